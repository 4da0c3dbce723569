package scenario;

/** What scenarios tell the test that runs them: lines on standard output that begin with a mark. */
final class Script {
    private Script() {}

    static void say(String line) {
        System.out.println("SCRIPT " + line);
        System.out.flush();
    }
}
