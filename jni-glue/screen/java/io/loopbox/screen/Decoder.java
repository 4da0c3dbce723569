// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import java.io.IOException;
import java.io.UnsupportedEncodingException;

/**
 * Reads the values of one section, as docs/file-format.md has them under "Values". Nothing is read past the
 * section's end.
 */
final class Decoder {
    private static final int TWO_BYTES = 251;
    private static final int FOUR_BYTES = 252;
    private static final int EIGHT_BYTES = 253;

    private final byte[] bytes;
    private final int end;
    private int at;

    Decoder(byte[] bytes, int from, int length) {
        this.bytes = bytes;
        at = from;
        end = from + length;
    }

    private int octet() throws IOException {
        if (at >= end) {
            throw new IOException("a section ends too early");
        }
        return bytes[at++] & 0xff;
    }

    /** Reads a u32 or u64; a value above {@code Long.MAX_VALUE} becomes negative. */
    long number() throws IOException {
        int first = octet();
        if (first < TWO_BYTES) {
            return first;
        }
        if (first > EIGHT_BYTES) {
            throw new IOException("no number begins with " + first);
        }
        int width = first == TWO_BYTES ? 2 : first == FOUR_BYTES ? 4 : 8;
        long value = 0;
        for (int nth = 0; nth < width; nth++) {
            value |= (long) octet() << 8 * nth;
        }
        return value;
    }

    /** Reads a u32, or the number of a variant. */
    int small() throws IOException {
        return (int) number();
    }

    int signed() throws IOException {
        long folded = number();
        return (int) (folded >>> 1 ^ -(folded & 1));
    }

    /** Reads a bool, or whether an optional value follows. */
    boolean flag() throws IOException {
        return octet() != 0;
    }

    /** Reads an optional number; returns -1 when it is missing. */
    long numberOrNone() throws IOException {
        return flag() ? number() : -1;
    }

    /** Reads the number of items in a list, each of which takes at least one byte. */
    int count() throws IOException {
        long count = number();
        if (count < 0 || count > end - at) {
            throw new IOException("a list of " + count);
        }
        return (int) count;
    }

    String text() throws IOException {
        int length = count();
        at += length;
        try {
            return new String(bytes, at - length, length, "UTF-8");
        } catch (UnsupportedEncodingException never) {
            throw new IOException(never);
        }
    }

    void skipNumbers(int count) throws IOException {
        for (int nth = 0; nth < count; nth++) {
            number();
        }
    }
}
