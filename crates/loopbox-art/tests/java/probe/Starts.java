package probe;

/**
 * Discovers ART repeatedly, from deep down in a stack, while the collector moves objects and threads come and
 * go.
 */
final class Starts {
    /** How many frames the stack has; each discovery reads all of them. */
    private static final int FRAMES = 500;

    private static volatile boolean done;

    private Starts() {}

    /** The argument is the number of discoveries. Prints each result that differs from the first one. */
    public static void main(String[] arguments) throws InterruptedException {
        Thread collections = new Thread("collections") {
            @Override
            public void run() {
                while (!done) {
                    Runtime.getRuntime().gc();
                }
            }
        };
        Thread churn = new Thread("churn") {
            @Override
            public void run() {
                while (!done) {
                    Thread brief = new Thread("brief");
                    brief.start();
                    try {
                        brief.join();
                    } catch (InterruptedException unexpected) {
                        throw new AssertionError(unexpected);
                    }
                }
            }
        };
        String first = Probe.install();
        System.out.println("first " + first);
        collections.start();
        churn.start();
        int confirmed = 0;
        for (int times = Integer.parseInt(arguments[0]); times > 0; times--) {
            String found = install(FRAMES);
            if (found.equals(first)) {
                confirmed++;
            } else {
                System.out.println("instead " + found);
            }
        }
        done = true;
        collections.join();
        churn.join();
        System.out.println("confirmed " + confirmed);
        System.out.println("done");
    }

    private static String install(int frames) {
        return frames == 0 ? Probe.install() : install(frames - 1);
    }
}
