package frames;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Ways for a method to call another. */
final class Calls {
    private Calls() {}

    /** Stacks deeper than the sampler's bound, and every depth below it. */
    static final class Recursion extends Phase {
        @Override void run(long endNs) {
            for (int depth = 1; before(endNs); depth = depth % 300 + 1) {
                sink = down(depth, 5);
            }
        }

        private static long down(int depth, int rounds) {
            return depth == 0 ? spin(2000) : (depth & 1) == 0 ? even(depth, rounds) : odd(depth, rounds);
        }

        private static long even(int depth, int rounds) {
            return down(depth - 1, rounds) + 1;
        }

        private static long odd(int depth, int rounds) {
            long x = spin(rounds);
            return x + down(depth - 1, rounds);
        }
    }

    /** Small methods that an optimizing compiler inlines into each other. */
    static final class InlinedChain extends Phase {
        @Override void run(long endNs) {
            while (before(endNs)) {
                for (int i = 0; i < 200; i++) {
                    sink = first(i);
                }
            }
        }

        private static long first(int i) {
            return second(i + 1) * 3;
        }

        private static long second(int i) {
            return third(i ^ 5) + third(i ^ 6);
        }

        private static long third(int i) {
            return i % 7 == 0 ? leaf(i) : leaf(i + 1);
        }

        private static long leaf(int i) {
            long x = i;
            for (int n = 0; n < 50; n++) {
                x += x >>> 3;
            }
            return x;
        }
    }

    /** A loop that only on-stack replacement can speed up: the method is entered once. */
    static final class HotLoop extends Phase {
        @Override void run(long endNs) {
            long x = 1;
            for (int i = 0; ; i++) {
                x = x * 6364136223846793005L + 1442695040888963407L;
                if ((i & 0xffff) == 0) {
                    sink = x;
                    if (!before(endNs)) {
                        return;
                    }
                }
            }
        }
    }

    interface Operation {
        long apply(long x);
    }

    abstract static class Shape implements Operation {
        abstract long area(long x);

        @Override public long apply(long x) {
            return area(x) + 1;
        }
    }

    static final class Square extends Shape {
        @Override long area(long x) {
            return Phase.spin(20) + x * x;
        }
    }

    static final class Circle extends Shape {
        @Override long area(long x) {
            return Phase.spin(30) + x * 3;
        }

        @Override public long apply(long x) {
            return super.apply(x) - 1;
        }
    }

    /** Virtual, interface and super calls with changing receivers. */
    static final class Virtual extends Phase {
        @Override void run(long endNs) {
            Shape[] shapes = {new Square(), new Circle()};
            for (int i = 0; before(endNs); i++) {
                for (int n = 0; n < 100; n++) {
                    Operation operation = shapes[(i + n) & 1];
                    sink = operation.apply(n) + shapes[n & 1].area(i);
                }
            }
        }
    }

    /** Method.invoke, which is native code that calls back. */
    static final class Reflective extends Phase {
        @Override void run(long endNs) throws Exception {
            Method method = Reflective.class.getDeclaredMethod("target", int.class);
            while (before(endNs)) {
                sink = (Long) method.invoke(null, 300);
            }
        }

        static long target(int rounds) {
            return spin(rounds);
        }
    }

    /** A generated proxy class. */
    static final class Proxied extends Phase implements InvocationHandler {
        @Override void run(long endNs) {
            Operation operation = (Operation) Proxy.newProxyInstance(
                    Proxied.class.getClassLoader(), new Class<?>[] {Operation.class}, this);
            while (before(endNs)) {
                sink = operation.apply(200);
            }
        }

        @Override public Object invoke(Object proxy, Method method, Object[] args) {
            return spin(((Long) args[0]).intValue());
        }
    }

    /** Method handles, called by invokeWithArguments, which needs no polymorphic invoke. */
    static final class Handles extends Phase {
        @Override void run(long endNs) throws Exception {
            MethodHandle handle = MethodHandles.lookup().findStatic(
                    Handles.class, "target", MethodType.methodType(long.class, int.class));
            try {
                while (before(endNs)) {
                    sink = (Long) handle.invokeWithArguments(300);
                }
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        static long target(int rounds) {
            return spin(rounds);
        }
    }

    /** Native methods of the library that call Java back. */
    static final class NativeCallback extends Phase implements PrivilegedAction<Long> {
        private static final class Fresh {
            static final long VALUE = spin(500);
        }

        @Override void run(long endNs) throws Exception {
            sink = Fresh.VALUE;
            Method nested = NativeCallback.class.getDeclaredMethod("again", int.class);
            while (before(endNs)) {
                sink = AccessController.doPrivileged(this) + (Long) nested.invoke(null, 3);
            }
        }

        @Override public Long run() {
            return spin(200);
        }

        static long again(int depth) throws Exception {
            if (depth == 0) {
                return spin(300);
            }
            Method nested = NativeCallback.class.getDeclaredMethod("again", int.class);
            return (Long) nested.invoke(null, depth - 1);
        }
    }

    /** Ordinary library code: collections, strings, formatting, sorting with a comparator. */
    static final class Library extends Phase {
        @Override void run(long endNs) {
            int round = 0;
            while (before(endNs)) {
                Map<String, Integer> map = new HashMap<String, Integer>();
                List<String> list = new ArrayList<String>();
                for (int i = 0; i < 60; i++) {
                    String text = Integer.toString(i * 7919 % 61) + "/" + round;
                    list.add(text);
                    map.put(text, i);
                }
                Collections.sort(list, new Comparator<String>() {
                    @Override public int compare(String a, String b) {
                        return b.compareTo(a);
                    }
                });
                sink = map.size() + list.get(0).length() + String.format("%d-%s", round++, list.get(1)).length();
            }
        }
    }
}
