// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

import android.os.Looper;
import android.util.Printer;
import io.loopbox.internal.platform.AppPolicy;
import io.loopbox.internal.platform.RecorderLog;
import io.loopbox.internal.recording.Native;
import io.loopbox.internal.recording.Settings;
import java.lang.reflect.Field;
import java.util.Arrays;

/**
 * The public hook: Looper prints a line before and a line after each dispatch. It works on every level and
 * has the running message's name, but Looper builds two strings a message for it.
 */
final class PrinterHook extends Hook implements Printer {
    /** How many nested loops keep a line; messages of deeper loops are recorded without a name. */
    private static final int NESTED = 8;

    private static final String START = ">";
    private static final String END = "<";

    /**
     * The Looper's hidden field with its Printer. Found once, because StrictMode reports each look-up of a
     * hidden member.
     */
    private static volatile Field logging;

    /**
     * The hook that is still in place after a recording, or a part of one, has ended: another library's
     * Printer wraps it. Main thread.
     */
    private static PrinterHook left;

    private final Looper looper;
    private boolean mayReflect;

    /** Whether the hook only keeps the Printer's line of the running message, while an Observer records. */
    private boolean namesOnly;

    /** The Printer that was set before us; it gets every line. */
    private Printer next;

    private boolean passingOn;

    /** Start lines of the running dispatches, innermost last. */
    private final String[] lines = new String[NESTED];

    private int depth;
    private volatile String running;

    /**
     * Whether the format of the lines is known; the first line shows it. Some ROMs print another format than
     * AOSP. There, every second line counts as the end of a dispatch.
     */
    private boolean decided;

    private boolean toggles;
    private boolean open;

    private PrinterHook(Looper looper) {
        this.looper = looper;
    }

    static PrinterHook install(Looper looper, Settings settings, boolean namesOnly) {
        PrinterHook hook = left == null ? new PrinterHook(looper) : left;
        boolean wasLeft = left != null;
        left = null;
        hook.mayReflect = settings.mayReflect;
        hook.namesOnly = namesOnly;
        hook.reset();
        try {
            Printer there = hook.mayReflect ? current(looper) : null;
            if (wasLeft && there != null) {
                // What wraps it passes on to it, or {@link DisplacedWatch} finds that it does not.
                return hook;
            }
            hook.next = there;
        } catch (ReflectiveOperationException refused) {
            RecorderLog.info("cannot see whether there is a Printer already: " + refused);
            hook.next = null;
        }
        set(looper, hook);
        return hook;
    }

    /**
     * Resets the hook. The Printer that gets its lines stays set, and the known format of the lines stays
     * known.
     */
    private void reset() {
        Arrays.fill(lines, null);
        depth = 0;
        running = null;
        open = false;
        armed = 0;
        active = true;
    }

    @Override
    Object there() throws ReflectiveOperationException {
        if (!mayReflect) {
            throw new NoSuchFieldException("public API only");
        }
        return current(looper);
    }

    @Override
    boolean isOurs(Object there) {
        return there == this;
    }

    @Override
    String describe() {
        return withArmed(next == null ? "Printer" : "Printer, passes on to " + next.getClass().getName());
    }

    @Override
    String runningLine() {
        return running;
    }

    @Override
    public void println(String line) {
        if (passingOn) {
            // Another library wraps us and we pass on to it: this line is already on its way.
            return;
        }
        boolean start = false;
        if (active && line != null) {
            start = decided && !toggles ? line.startsWith(START) : isOddStart(line);
            if (!start) {
                ended();
            }
        }
        Printer other = next;
        if (other != null) {
            passOn(other, line);
        }
        if (start) {
            began(line);
        }
    }

    private void passOn(Printer other, String line) {
        passingOn = true;
        try {
            other.println(line);
        } finally {
            passingOn = false;
        }
    }

    private boolean isOddStart(String line) {
        boolean start = line.startsWith(START);
        if (!decided) {
            decided = true;
            toggles = !start && !line.startsWith(END);
        }
        return toggles ? !open : start;
    }

    private void began(String line) {
        try {
            open = true;
            int said = namesOnly ? Native.depth() + 1 << Native.DEPTH_SHIFT : MainThread.begin();
            if (said < 0) {
                // Not the main thread: another library's words.
                return;
            }
            int running = said >> Native.DEPTH_SHIFT;
            if ((said & Native.WANTS_NAME) != 0 && this.running != null) {
                Native.describeLine(this.running);
            }
            depth = running;
            if (running > 0 && running <= NESTED) {
                lines[running - 1] = line;
            }
            this.running = line;
        } catch (Throwable fault) {
            fail(fault);
        }
    }

    private void ended() {
        try {
            open = false;
            int said = namesOnly ? Native.depth() << Native.DEPTH_SHIFT : MainThread.end();
            while (said == Native.IN_DOUBT) {
                // The app left a nested loop by an exception; the line of that loop's message is still here.
                depth--;
                if (depth >= 0 && depth < NESTED && lines[depth] != null) {
                    Native.describeLine(lines[depth]);
                }
                said = MainThread.end();
            }
            if (said < 0) {
                return;
            }
            depth = said >> Native.DEPTH_SHIFT;
            if (depth < NESTED && !namesOnly) {
                String line = lines[depth];
                if (line != null && ((said & Native.WANTS_NAME) != 0 || MainThread.isComponent(line))) {
                    Native.describeLine(line);
                }
            }
            running = depth == 0 || depth > NESTED ? null : lines[depth - 1];
        } catch (Throwable fault) {
            fail(fault);
        }
    }

    @Override
    boolean armAgain() {
        try {
            Printer there = (Printer) there();
            if (there != this) {
                next = there;
                set(looper, this);
                armed++;
            }
            return true;
        } catch (ReflectiveOperationException refused) {
            // Without seeing what is there we would take another library's Printer away.
            RecorderLog.info("displaced, and the Printer there now cannot be seen: " + refused);
            return false;
        }
    }

    @Override
    void uninstall() {
        active = false;
        running = null;
        try {
            // Wrapped by another library: stay as a pass-through, or its chain to the ones before us breaks.
            if (mayReflect && current(looper) != this) {
                left = this;
                return;
            }
        } catch (ReflectiveOperationException refused) {
            RecorderLog.info("cannot see whether our Printer was wrapped: " + refused);
        }
        set(looper, next);
    }

    private static void set(Looper looper, Printer printer) {
        AppPolicy policy = AppPolicy.allowPrinter();
        try {
            looper.setMessageLogging(printer);
        } finally {
            AppPolicy.restore(policy);
        }
    }

    private static Printer current(Looper looper) throws ReflectiveOperationException {
        Field known = logging;
        if (known == null) {
            known = Looper.class.getDeclaredField("mLogging");
            known.setAccessible(true);
            logging = known;
        }
        return (Printer) known.get(looper);
    }
}
