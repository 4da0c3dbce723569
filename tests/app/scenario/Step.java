package scenario;

/** A message of a scenario. Whatever it throws ends the process. */
abstract class Step implements Runnable {
    abstract void step() throws Exception;

    @Override
    public final void run() {
        try {
            step();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }
}
