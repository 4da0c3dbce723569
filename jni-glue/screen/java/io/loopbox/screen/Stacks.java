// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The sampled stacks of a message: equal ones are combined, the most frequent first. */
final class Stacks {
    /** The end of the line that replaces the frames left out of the middle of a stack. */
    private static final String LEFT_OUT = " frames left out";

    private Stacks() {}

    /** The frames' names, by their numbers. */
    static final class Symbols {
        private final List<String> locations = new ArrayList<String>();

        String at(int location) {
            return location >= 0 && location < locations.size() ? locations.get(location) : "at an unknown place";
        }
    }

    /** One stack, and how often it was seen. */
    static final class Stack {
        /** The number of all samples of the message. */
        final int of;

        /** The frames as Java prints them, the innermost first. */
        final List<String> frames;

        int samples;

        Stack(List<String> frames, int of) {
            this.frames = frames;
            this.of = of;
        }
    }

    static Symbols symbols(Decoder from) throws IOException {
        List<String[]> methods = new ArrayList<String[]>();
        for (int left = from.count(); left > 0; left--) {
            String type = from.text();
            String name = from.text();
            from.text();
            methods.add(new String[] {type + "." + name, from.text()});
        }
        Symbols symbols = new Symbols();
        for (int left = from.count(); left > 0; left--) {
            symbols.locations.add(location(from, methods));
        }
        return symbols;
    }

    private static String location(Decoder from, List<String[]> methods) throws IOException {
        if (from.small() != 0) {
            return "... " + from.number() + LEFT_OUT;
        }
        int method = from.small();
        boolean isJava = from.numberOrNone() >= 0;
        long line = from.numberOrNone();
        if (method < 0 || method >= methods.size()) {
            throw new IOException("a frame of method " + method);
        }
        String[] named = methods.get(method);
        String file = named[1].isEmpty() ? "Unknown Source" : named[1];
        String place = line >= 0 ? file + ":" + line : isJava ? file : "Native method";
        return "at " + named[0] + "(" + place + ")";
    }

    /**
     * Reads the frames of a stack. The file has the bottom of the stack first, which is the outermost frame.
     * The result has the innermost frame first.
     */
    static List<String> bottomFirst(Decoder from, Symbols symbols) throws IOException {
        List<String> frames = new ArrayList<String>();
        for (int left = from.count(); left > 0; left--) {
            frames.add(symbols.at(from.small()));
        }
        Collections.reverse(frames);
        return frames;
    }

    /** The stacks, or null where the tree belongs to a message with another number. */
    static List<Stack> of(Decoder from, Symbols symbols, long token) throws IOException {
        if (from.number() != token) {
            return null;
        }
        from.skipNumbers(2);
        for (int left = from.count(); left > 0; left--) {
            from.skipNumbers(2);
        }
        from.skipNumbers(from.count());
        int nodes = from.count();
        int[] location = new int[nodes];
        int[] parent = new int[nodes];
        int[] self = new int[nodes];
        int[] children = new int[nodes];
        int above = -1;
        int samples = 0;
        for (int node = 0; node < nodes; node++) {
            while (above >= 0 && children[above] == 0) {
                above = parent[above];
            }
            location[node] = from.small();
            from.number();
            self[node] = from.small();
            children[node] = from.small();
            parent[node] = above;
            if (above < 0) {
                samples += self[node];
            } else {
                self[above] -= self[node];
                children[above]--;
            }
            above = node;
        }
        return distinct(location, parent, self, samples, symbols);
    }

    private static List<Stack> distinct(int[] location, int[] parent, int[] self, int samples, Symbols symbols) {
        Map<List<String>, Stack> all = new HashMap<List<String>, Stack>();
        for (int node = 0; node < self.length; node++) {
            if (self[node] > 0) {
                List<String> frames = new ArrayList<String>();
                for (int at = node; at >= 0; at = parent[at]) {
                    frames.add(symbols.at(location[at]));
                }
                Stack stack = all.get(frames);
                if (stack == null) {
                    stack = new Stack(frames, samples);
                    all.put(frames, stack);
                }
                stack.samples += self[node];
            }
        }
        List<Stack> sorted = new ArrayList<Stack>(all.values());
        Collections.sort(
                sorted,
                new Comparator<Stack>() {
                    @Override
                    public int compare(Stack a, Stack b) {
                        int more = b.samples - a.samples;
                        // The order of a map differs from run to run.
                        return more != 0 ? more : a.frames.toString().compareTo(b.frames.toString());
                    }
                });
        return sorted;
    }
}
