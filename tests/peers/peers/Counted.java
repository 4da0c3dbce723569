package peers;

import android.os.Looper;
import android.os.Trace;
import io.loopbox.internal.recording.Native;
import java.util.ArrayList;
import java.util.List;

/**
 * Which of a known number of messages were seen: by an SDK, by their numbers; by the recorder, by how many it
 * has seen begin, against how many Looper has dispatched. Looper names those for a trace, which neither an
 * SDK nor a hook of ours is in the way of. Main thread.
 */
final class Counted {
    /** How often the SDK has seen each. */
    private final int[] seen;

    /** What the recorder made of the messages since the one before, where it is not one of each. */
    private final List<String> faults = new ArrayList<>();

    /** Messages of others. */
    private final List<String> foreign = new ArrayList<>();

    private final int firstDispatched;
    private long begun;
    private int dispatched;

    /** In the message before the first one. */
    Counted(int messages) {
        seen = new int[messages];
        begun = Native.begun();
        firstDispatched = dispatched = Trace.testBegun.size();
    }

    /** Has Looper name the messages of main from now on. */
    static void begin() {
        Trace.testBegun = new ArrayList<>();
        Looper.getMainLooper().setTraceTag(Trace.TRACE_TAG_APP);
    }

    /** The SDK has seen a message that Looper prints so. */
    void printed(String line) {
        int number = Tick.number(line);
        if (number >= 0) {
            seen[number]++;
        }
    }

    /** The SDK has had this one run. */
    void ran(int number) {
        seen[number]++;
    }

    /** In each message, and in the one after the last: what the recorder has made of it. */
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

    /** How many messages Looper has dispatched, and where the recorder has seen another number. */
    String recorded() {
        return (dispatched - firstDispatched) + " " + faults;
    }

    String foreign() {
        return foreign.toString();
    }
}
