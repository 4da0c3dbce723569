package peers;

import android.os.Looper;
import android.os.Trace;
import io.loopbox.internal.recording.Native;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Which of a known number of messages an SDK and the recorder have seen. Each message has a number, and the
 * SDK's messages are counted by these numbers. The recorder has only a count: how many messages it has seen
 * begin. This count is compared with how many messages Looper has dispatched. Looper names each message for a
 * trace, and these names are counted. Neither an SDK nor the recorder's hook interferes with a trace. Main
 * thread.
 */
final class Counted {
    private static final Pattern REPORTED = Pattern.compile("\"Tick#(\\d+)#\":\"(\\d+)\"");

    /** How often the SDK has seen each message. */
    private final int[] seen;

    /**
     * The steps at which two counts of messages since the previous step differed: the recorder's and
     * Looper's.
     */
    private final List<String> faults = new ArrayList<>();

    /** The names of messages of other code. */
    private final List<String> foreign = new ArrayList<>();

    private final int firstDispatched;
    private long begun;
    private int dispatched;

    /** Must be called in the message before the first one that is counted. */
    Counted(int messages) {
        seen = new int[messages];
        begun = Native.begun();
        firstDispatched = dispatched = Trace.testBegun.size();
    }

    /** Makes Looper name main's messages for a trace from now on. */
    static void begin() {
        Trace.testBegun = new ArrayList<>();
        Looper.getMainLooper().setTraceTag(Trace.TRACE_TAG_APP);
    }

    /** Notes that the SDK has seen the message that Looper prints as this line. */
    void printed(String line) {
        int number = Tick.number(line);
        if (number >= 0) {
            seen[number]++;
        }
    }

    /** Notes that the SDK has run the message of this number. */
    void ran(int number) {
        seen[number]++;
    }

    /** Notes the messages that a report has, with how often each was counted. */
    void reported(String report) {
        Matcher counts = REPORTED.matcher(report);
        while (counts.find()) {
            seen[Integer.parseInt(counts.group(1))] += Integer.parseInt(counts.group(2));
        }
    }

    /**
     * Compares what the recorder has counted since the last call with what Looper has dispatched. Must be
     * called in each message, and in the one after the last.
     */
    void step(String what) {
        long sinceBegun = Native.begun() - begun;
        int now = Trace.testBegun.size();
        List<String> names = Trace.testBegun.subList(dispatched, now);
        if (sinceBegun != names.size()) {
            faults.add(sinceBegun + " recorded up to " + what + " of " + names);
        }
        foreign.addAll(names.subList(0, names.size() - 1));
        begun += sinceBegun;
        dispatched = now;
    }

    /** The numbers that the SDK has not seen, then those that it has seen more than once. */
    String seen() {
        List<Integer> lost = new ArrayList<>();
        List<Integer> again = new ArrayList<>();
        for (int number = 0; number < seen.length; number++) {
            if (seen[number] == 0) {
                lost.add(number);
            } else if (seen[number] > 1) {
                again.add(number);
            }
        }
        return "lost " + lost + " again " + again;
    }

    /**
     * How many messages Looper has dispatched, and the steps at which the recorder's count differs from
     * Looper's.
     */
    String recorded() {
        return (dispatched - firstDispatched) + " " + faults;
    }

    String foreign() {
        return foreign.toString();
    }
}
