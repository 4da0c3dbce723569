package real;

import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * Runs the tests of the classes that its arguments name. The SDKs' shutdown hooks, which wait for the SDKs'
 * servers, are not run.
 */
public final class Main {
    private Main() {}

    public static void main(String[] classes) throws Exception {
        int failed = 0;
        int ran = 0;
        for (String name : classes) {
            Result result = JUnitCore.runClasses(Class.forName(name));
            for (Failure failure : result.getFailures()) {
                System.out.println(failure.getTestHeader() + ": " + failure.getTrace());
            }
            failed += result.getFailureCount();
            ran += result.getRunCount();
        }
        System.out.println("ran " + ran + ", failed " + failed);
        System.out.flush();
        Runtime.getRuntime().halt(failed == 0 && ran > 0 ? 0 : 1);
    }
}
