package phone;

import android.content.Context;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import scenario.Options;
import scenario.Script;

/** The places of the app's own code on the main thread, by their names in arguments and output. */
enum Places {
    ATTACH_BEFORE,
    ATTACH_AFTER,
    PROVIDER,
    APPLICATION,
    ACTIVITY,
    FRAME_INPUT,
    FRAME_ANIMATION,
    FRAME_TRAVERSAL,
    TOUCH_DOWN,
    TOUCH_MOVE,
    TOUCH_UP,
    KEY,
    GENERIC_MOTION,
    IDLE,
    DESCRIPTOR,
    SERVICE_CREATE,
    SERVICE_START,
    RECEIVER,
    JOB,
    MESSAGE,
    NESTED_LOOP;

    private static final Set<Places> REACHED = new HashSet<Places>();

    /**
     * The name of {@link #reach}. At each place, the app's code calls this method. So its frame, and the
     * frames above it on the stack, belong to this class and the virtual machine.
     */
    private static final String HERE = "reach";

    private String argument() {
        return name().toLowerCase().replace('_', '-');
    }

    /**
     * Called each time the main thread is at this place, which may be often, as in frames. The first call
     * prints the stack, and hangs if the arguments want it. Later calls do nothing.
     */
    void reach() {
        if (!REACHED.add(this)) {
            return;
        }
        Script.say("at " + argument() + ": " + below());
        Options options = Main.options;
        if (Arrays.asList(options.text("hang", "").split(",")).contains(argument())) {
            SlowlyPrinted.post(options);
            new Hang(options).begin(argument());
            Script.say("goes on at " + argument());
        }
    }

    /** The methods on the stack below this class, outermost first. */
    private static String below() {
        StackTraceElement[] stack = Thread.currentThread().getStackTrace();
        StringBuilder text = new StringBuilder();
        for (int i = stack.length; i-- > 0 && !stack[i].getMethodName().equals(HERE); ) {
            text.append(text.length() == 0 ? "" : " ").append(stack[i].getMethodName());
        }
        return text.toString();
    }

    /** Installs the recorder, if the arguments want it here. */
    static void install(String where, Context context) {
        Options options = Main.options;
        if (options.text("install", "attach").equals(where)) {
            Status status = Loopbox.install(context, options.config().build());
            Script.say("installed in " + where + ": " + status);
        }
    }
}
