package frames;

/** One kind of code. */
abstract class Phase {
    /** Results of a phase are stored here, so that no compiler may remove the computation. */
    static volatile long sink;

    abstract void run(long endNs) throws Exception;

    final String name() {
        return getClass().getSimpleName();
    }

    static boolean before(long endNs) {
        return System.nanoTime() - endNs < 0;
    }

    /** Some work that has no calls. */
    static long spin(int rounds) {
        long x = rounds;
        for (int i = 0; i < rounds; i++) {
            x = x * 31 + i;
        }
        return x;
    }
}
