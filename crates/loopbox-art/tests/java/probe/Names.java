package probe;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;

/** Compares sampled stacks with what Throwable.getStackTrace says at the same place. */
public final class Names {
    private static int compared;

    public static void main(String[] args) throws Exception {
        System.out.println("installed " + Probe.install());
        System.out.println("misuse " + Probe.misuse());
        Probe.start(0);
        compare();
        new Names(3).method(1L, new int[0][], "x");
        Inner.Deeper.größe(20);
        Inner.Deeper.größe(90);
        overloaded(1);
        overloaded("1");
        new Runnable() {
            @Override public void run() {
                compare();
            }
        }.run();
        InitialisedLate.touch();
        ((Shape) new Square()).draw();
        java.util.Arrays.sort(new Integer[] {2, 1}, new java.util.Comparator<Integer>() {
            @Override public int compare(Integer a, Integer b) {
                Names.compare();
                return a - b;
            }
        });
        Names.class.getDeclaredMethod("reflected").invoke(null);
        try {
            throwing();
        } catch (IllegalStateException e) {
            compare();
        } finally {
            compare();
        }
        proxied();
        recursion(400);
        recursion(3000);
        System.out.println("compared " + compared);
        System.out.println("stats " + Probe.stats());
        System.out.println("entry " + Probe.entry());
        System.out.println("done");
    }

    private Names(int depth) {
        if (depth == 0) compare(); else new Names(depth - 1);
    }

    double method(long a, int[][] b, Object c) {
        synchronized (this) {
            compare();
        }
        return 1;
    }

    static void overloaded(int x) { compare(); }

    static void overloaded(Object x) { compare(); }

    static void reflected() { compare(); }

    static void throwing() {
        try {
            throw new IllegalStateException();
        } finally {
            compare();
        }
    }

    interface Shape {
        default void draw() {
            paint();
        }

        void paint();
    }

    static final class Square implements Shape {
        @Override public void paint() { compare(); }
    }

    static final class InitialisedLate {
        static {
            compare();
        }

        static void touch() {}
    }

    static final class Inner {
        static final class Deeper {
            static int größe(int n) {
                return n == 0 ? compare() : größe(n - 1) + 1;
            }
        }
    }

    static int compare() {
        String sampled = Probe.hold(); StackTraceElement[] trace = new Throwable().getStackTrace();
        String[] lines = sampled.split("\n");
        // R8 gives all classes one file, and each of this line's two calls a line.
        boolean byR8 = trace[0].getFileName().startsWith("r8-map-id-");
        String file = byR8 ? trace[0].getFileName() : "Probe.java";
        boolean same = lines.length == trace.length + 1
            && lines[0].startsWith("probe.Probe\thold\t()Ljava/lang/String;\t" + file + "\t-2\t-1");
        for (int i = 0; same && i < trace.length; i++) {
            String[] f = lines[i + 1].split("\t");
            StackTraceElement e = trace[i];
            // ART gives the dex pc for the line of a method that has none, and no file.
            boolean hasNone = e.getFileName() == null && f[4].equals("-1")
                && f[5].equals(String.valueOf(e.getLineNumber()));
            same = f.length == 6 && f[0].equals(e.getClassName()) && f[1].equals(e.getMethodName())
                && (hasNone || f[3].equals(String.valueOf(e.getFileName()))
                    && ((byR8 && i == 0) || Integer.parseInt(f[4]) == e.getLineNumber()));
        }
        if (!same) {
            System.out.println("differs: sampled\n" + sampled + "traced");
            for (StackTraceElement e : trace) System.out.println("  " + e);
        }
        compared++;
        return 0;
    }

    private static void proxied() {
        Shape shape = (Shape) Proxy.newProxyInstance(Names.class.getClassLoader(), new Class<?>[] {Shape.class},
            new InvocationHandler() {
                @Override public Object invoke(Object p, Method m, Object[] a) {
                    System.out.println("proxied " + Probe.hold().replace('\n', '|'));
                    return null;
                }
            });
        shape.paint();
    }

    private static void recursion(int n) {
        if (n > 0) {
            recursion(n - 1);
            return;
        }
        String[] lines = Probe.hold().split("\n");
        System.out.println("recursion " + lines.length + " top " + lines[1] + " gap " + lines[96]
            + " bottom " + lines[lines.length - 1]);
    }
}
