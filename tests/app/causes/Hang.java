package causes;

/** The message that hangs. */
final class Hang implements Runnable {
    /** What main does in it. */
    interface Work {
        void begin() throws Exception;
    }

    private final Work work;

    Hang(Work work) {
        this.work = work;
    }

    @Override
    public void run() {
        try {
            work.begin();
        } catch (Exception failed) {
            throw new IllegalStateException(failed);
        }
    }
}
