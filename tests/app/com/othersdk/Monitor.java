package com.othersdk;

import android.os.Looper;
import android.util.Printer;
import java.lang.reflect.Field;

/** Another library's block monitor: counts what the Looper prints, and may pass it on. */
public final class Monitor implements Printer {
    /** {@code starts} counts the lines that begin a message, {@code ends} those that end one. */
    public int starts;
    public int ends;

    /** The starts that all monitors together have seen. */
    public static int allStarts;

    private Printer next;
    private final String startsWith;
    private final String endsWith;

    private Monitor(Printer next, String startsWith, String endsWith) {
        this.next = next;
        this.startsWith = startsWith;
        this.endsWith = endsWith;
    }

    /** Replaces the Looper's Printer by a monitor, which passes no lines on to the previous Printer. */
    public static Monitor replace(Looper looper) {
        Monitor monitor = new Monitor(null, null, null);
        looper.setMessageLogging(monitor);
        return monitor;
    }

    /** Replaces the Looper's Printer by a monitor, which passes each line on to the previous Printer. */
    public static Monitor wrap(Looper looper) throws ReflectiveOperationException {
        Monitor monitor = new Monitor(current(looper), null, null);
        looper.setMessageLogging(monitor);
        return monitor;
    }

    /**
     * As {@link #wrap}, but the monitor passes lines on in another format, as some vendors' Loopers print
     * them.
     */
    public static Monitor wrapInOtherWords(Looper looper) throws ReflectiveOperationException {
        Monitor monitor = new Monitor(current(looper), "vendor: begin ", "vendor: done ");
        looper.setMessageLogging(monitor);
        return monitor;
    }

    /** From now on no lines are passed on. */
    public void keepToItself() {
        next = null;
    }

    /** The Printer that is set now. */
    public static Printer current(Looper looper) throws ReflectiveOperationException {
        Field field = Looper.class.getDeclaredField("mLogging");
        field.setAccessible(true);
        return (Printer) field.get(looper);
    }

    @Override
    public void println(String line) {
        boolean start = line.charAt(0) == '>';
        if (start) {
            starts++;
            allStarts++;
        } else {
            ends++;
        }
        if (next != null) {
            next.println(startsWith == null ? line : (start ? startsWith : endsWith) + line.substring(6));
        }
    }
}
