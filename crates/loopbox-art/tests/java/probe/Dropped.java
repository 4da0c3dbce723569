package probe;

/** Loaded repeatedly, by a new loader each time. */
public final class Dropped implements Runnable {
    private int sum;

    @Override public void run() {
        for (int i = 0; i < 400; i++) step(i);
    }

    private void step(int i) {
        sum += last(i) * 3;
    }

    private static int last(int i) {
        int r = 1;
        for (int k = 0; k < 20; k++) r = r * 31 + i;
        return r;
    }
}
