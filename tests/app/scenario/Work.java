package scenario;

/** Time that passes because the thread works. */
public final class Work {
    private Work() {}

    /** Keeps the thread busy for at least this long by the clock. */
    public static long busy(int ms) {
        long until = System.nanoTime() + ms * 1_000_000L;
        long turns = 0;
        while (System.nanoTime() < until) {
            turns++;
        }
        return turns;
    }
}
