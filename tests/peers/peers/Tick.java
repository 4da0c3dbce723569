package peers;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A message with a number. The line that Looper prints for the message contains this number. */
final class Tick implements Runnable {
    private static final Pattern PRINTED = Pattern.compile("Tick#(\\d+)#");

    /** What each message does. */
    interface Body {
        void run(int number);
    }

    private final int number;
    private final Body body;

    Tick(int number, Body body) {
        this.number = number;
        this.body = body;
    }

    /** The number of the message that Looper prints as this line; less than 0 for any other message. */
    static int number(String line) {
        Matcher printed = PRINTED.matcher(line);
        return printed.find() ? Integer.parseInt(printed.group(1)) : -1;
    }

    @Override public void run() {
        body.run(number);
    }

    @Override public String toString() {
        return "Tick#" + number + "#";
    }
}
