package io.loopbox;

import android.os.Looper;
import android.util.Log;
import android.util.Printer;
import java.lang.reflect.Field;

/**
 * The public hook: Looper prints a line before and a line after each dispatch. It works on every level and has the
 * running message's name, but Looper builds two strings a message for it.
 */
final class PrinterHook extends Hook implements Printer {
    /** Deeper nested loops than that keep no line; their messages are recorded without a name. */
    private static final int NESTED = 8;

    private final Looper looper;
    private final boolean mayReflect;

    /** Only keeps the running line, next to an Observer that records. */
    private final boolean namesOnly;

    /** The Printer that was there before us; it gets every line. */
    private Printer next;

    private boolean passingOn;
    private int armed;

    /** Start lines of the running dispatches, innermost last. */
    private final String[] lines = new String[NESTED];

    private int depth;
    private volatile String running;

    /** Some ROMs print other words; then every second line is an end. Decided by the first line. */
    private boolean decided;

    private boolean toggles;
    private boolean open;

    private PrinterHook(MainThread main, Looper looper, boolean mayReflect, boolean namesOnly) {
        super(main);
        this.looper = looper;
        this.mayReflect = mayReflect;
        this.namesOnly = namesOnly;
    }

    static PrinterHook install(MainThread main, Looper looper, Config config, boolean namesOnly) {
        boolean mayReflect = config.hiddenApi != Config.HiddenApi.NONE;
        PrinterHook hook = new PrinterHook(main, looper, mayReflect, namesOnly);
        try {
            hook.next = mayReflect ? current(looper) : null;
        } catch (ReflectiveOperationException refused) {
            Log.i(Loopbox.TAG, "cannot see whether there is a Printer already: " + refused);
        }
        looper.setMessageLogging(hook);
        return hook;
    }

    @Override
    String describe() {
        StringBuilder text = new StringBuilder("Printer");
        if (next != null) {
            text.append(", passes on to ").append(next.getClass().getName());
        }
        if (armed > 0) {
            text.append(", armed again ").append(armed).append(armed == 1 ? " time" : " times");
        }
        return text.toString();
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
        // Another library that wraps us may print from anywhere.
        boolean ours = active && line != null && main.isCurrent();
        boolean start = ours && isStart(line);
        if (ours && !start) {
            ended();
        }
        Printer further = next;
        if (further != null) {
            passingOn = true;
            try {
                further.println(line);
            } finally {
                passingOn = false;
            }
        }
        if (start) {
            began(line);
        }
    }

    private boolean isStart(String line) {
        char first = line.isEmpty() ? ' ' : line.charAt(0);
        if (!decided) {
            decided = true;
            toggles = first != '>' && first != '<';
        }
        return toggles ? !open : first == '>';
    }

    private void began(String line) {
        try {
            open = true;
            if (namesOnly) {
                // The Observer's own begin comes after this line, its end before the other one.
                depth = main.depth() + 1;
            } else {
                String before = running;
                if (main.begin() && before != null) {
                    Native.describeLine(before);
                }
                depth = main.depth();
            }
            if (depth >= 1 && depth <= NESTED) {
                lines[depth - 1] = line;
            }
            running = line;
        } catch (Throwable fault) {
            fail(fault);
        }
    }

    private void ended() {
        try {
            open = false;
            if (!namesOnly) {
                main.end(lines);
            }
            depth = main.depth();
            running = depth == 0 || depth > NESTED ? null : lines[depth - 1];
        } catch (Throwable fault) {
            fail(fault);
        }
    }

    @Override
    boolean armAgain() {
        try {
            if (!mayReflect) {
                throw new NoSuchFieldException("public API only");
            }
            Printer there = current(looper);
            if (there != this) {
                next = there;
                looper.setMessageLogging(this);
                armed++;
            }
            return true;
        } catch (ReflectiveOperationException refused) {
            // Without seeing what is there we would take another library's Printer away.
            Log.i(Loopbox.TAG, "displaced, and the Printer there now cannot be seen: " + refused);
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
                return;
            }
        } catch (ReflectiveOperationException refused) {
            Log.i(Loopbox.TAG, "cannot see whether our Printer was wrapped: " + refused);
        }
        looper.setMessageLogging(next);
    }

    private static Printer current(Looper looper) throws ReflectiveOperationException {
        Field field = Looper.class.getDeclaredField("mLogging");
        field.setAccessible(true);
        return (Printer) field.get(looper);
    }
}
