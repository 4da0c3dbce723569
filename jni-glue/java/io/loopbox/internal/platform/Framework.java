// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/**
 * What the recorder asks the Android framework about the process. All such questions go through this
 * interface; a process without a Context, or a test, has another implementation. Nothing here throws except
 * {@link #notResponding}. Not for the main thread: the answers come from another process.
 */
public interface Framework {
    /**
     * What the system reports about this process not responding; null when it reports nothing.
     *
     * @throws RuntimeException when the system cannot be asked: then it is not known whether it would report
     *     something
     */
    String notResponding();

    /**
     * How earlier processes of this app ended, newest first; null where no record is kept: below Android 11.
     */
    Exit[] exits();

    /**
     * How and why the system started this process, as text; null where it does not report it: below Android
     * 15.
     */
    String started();

    /** Whether the user sees an Activity of this process now; null where the system does not say. */
    Boolean isSeen();

    /**
     * Makes the system take profiles of this app from now on, as often as it allows. The sink is called with
     * each file, in this process or a later one.
     *
     * @param triggers the events at which to take a profile: bit n stands for the event with the number n.
     *     Events that the system does not know are left out
     * @param sink null to have no more profiles taken
     * @return whether the system does that: not below Android 16
     */
    boolean profile(int triggers, ProfileSink sink);

    /**
     * Asks for the trace that the system is recording now. Does nothing unless {@link #profile} was given
     * {@link ProfileSink#RUNNING_TRACE}, and below Android 16 QPR2.
     *
     * @param tag passed to the sink together with the trace
     */
    void traceNow(String tag);

    /**
     * Makes the system notify the sink from now on when it is about to report an ANR of this app.
     *
     * @param sink null for no more notifications
     * @return whether the system does that: not below Android 17
     */
    boolean warnOfAnrs(WarningSink sink);

    /** Whether a debugger is attached, whose stops are not hangs. */
    boolean isDebugged();

    /** A process without a Context: nothing is known. */
    Framework NONE =
            new Framework() {
                @Override
                public String notResponding() {
                    return null;
                }

                @Override
                public Exit[] exits() {
                    return null;
                }

                @Override
                public String started() {
                    return null;
                }

                @Override
                public Boolean isSeen() {
                    return null;
                }

                @Override
                public boolean profile(int triggers, ProfileSink sink) {
                    return false;
                }

                @Override
                public void traceNow(String tag) {}

                @Override
                public boolean warnOfAnrs(WarningSink sink) {
                    return false;
                }

                @Override
                public boolean isDebugged() {
                    return false;
                }
            };
}
