// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** Gets the profiles that the system has taken. On a thread of the system's choice. */
public interface ProfileSink {
    /**
     * The number of {@code ProfilingTrigger.TRIGGER_TYPE_ANR}. {@code RUNNING_TRACE} is the number of another
     * trigger.
     */
    int ANR = 2;

    int RUNNING_TRACE = 3;

    /**
     * The file at {@code path} has a profile of this app: of this process, of another one, or of one that has
     * ended.
     *
     * @param trigger the event at which the profile was taken, as the constants above
     * @param tag null for none. With {@link #RUNNING_TRACE} it is the tag that {@link Framework#traceNow} was
     *     given, with other triggers it is the system's own
     */
    void onProfile(int trigger, String tag, String path);
}
