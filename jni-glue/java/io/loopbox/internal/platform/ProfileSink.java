// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** Gets the profiles that the system has taken. On a thread of the system's choice. */
public interface ProfileSink {
    /** ProfilingTrigger.TRIGGER_TYPE_*, the platform's numbers. */
    int ANR = 2;

    int RUNNING_TRACE = 3;

    /**
     * There is a profile of this app in that file: of this process, of another one, or of one that is gone.
     *
     * @param trigger what it was taken at
     * @param tag of the {@link #RUNNING_TRACE} what {@link Framework#traceNow} was given, else the system's
     *     own; null for none
     */
    void onProfile(int trigger, String tag, String path);
}
