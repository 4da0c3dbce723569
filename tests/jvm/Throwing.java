import io.loopbox.DumpCallback;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.util.concurrent.CountDownLatch;

/** A callback of the app that throws. Prints what reaches the handler that would end the app. */
public final class Throwing {
    private Throwing() {}

    public static void main(String[] arguments) throws Exception {
        Thread.setDefaultUncaughtExceptionHandler(
                new Thread.UncaughtExceptionHandler() {
                    @Override
                    public void uncaughtException(Thread thread, Throwable fault) {
                        System.out.println("uncaught " + fault);
                    }
                });
        final CountDownLatch called = new CountDownLatch(1);
        final Thread[] caller = new Thread[1];
        Loopbox.dumpAsync(
                "slow checkout",
                new DumpCallback() {
                    @Override
                    public void onDumped(Report report) {
                        System.out.println("dumped " + report);
                        caller[0] = Thread.currentThread();
                        called.countDown();
                        throw new IllegalStateException("the app's own fault");
                    }
                });
        called.await();
        // A thread that the fault ended, or one that goes on.
        caller[0].join(1_000);
        System.out.println("done");
        System.exit(0);
    }
}
