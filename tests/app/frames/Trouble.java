package frames;

/** Code that throws, by itself and through the runtime. */
final class Trouble {
    private Trouble() {}

    /** Deep exceptions with traces, caught far away. */
    static final class Exceptions extends Phase {
        @Override void run(long endNs) {
            for (int i = 0; before(endNs); i++) {
                try {
                    dig(i % 60);
                } catch (IllegalStateException e) {
                    sink = e.getStackTrace().length;
                }
            }
        }

        private static long dig(int depth) {
            if (depth == 0) {
                throw new IllegalStateException("dug");
            }
            try {
                return dig(depth - 1) + 1;
            } finally {
                sink = spin(10);
            }
        }
    }

    /** Exceptions that the runtime raises. In compiled code, some of them begin with a signal (SIGSEGV). */
    static final class NullChecks extends Phase {
        private long field;

        @Override void run(long endNs) {
            int[] array = new int[3];
            Object text = "text";
            for (int i = 0; before(endNs); i++) {
                try {
                    switch (i & 3) {
                        case 0:
                            sink = read(null);
                            break;
                        case 1:
                            sink = array[3 + (i & 1)];
                            break;
                        case 2:
                            sink = (Integer) text;
                            break;
                        default:
                            sink = i / (i & 1 ^ 1);
                    }
                } catch (RuntimeException e) {
                    sink = e.hashCode();
                }
                sink = spin(50);
            }
        }

        private static long read(NullChecks nothing) {
            return nothing.field;
        }
    }

    /** Stacks of the greatest possible depth. */
    static final class StackOverflow extends Phase {
        @Override void run(long endNs) {
            while (before(endNs)) {
                try {
                    sink = endless(0);
                } catch (StackOverflowError e) {
                    sink = e.hashCode();
                }
            }
        }

        private static long endless(long depth) {
            return endless(depth + 1) + 1;
        }
    }
}
