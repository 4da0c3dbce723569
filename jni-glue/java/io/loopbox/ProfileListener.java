// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import androidx.annotation.WorkerThread;
import java.io.File;

/** Is called with the profiles that the system takes of this app: {@link Config.Builder#profileListener}. */
public interface ProfileListener {
    /**
     * Called on a separate thread. A profile of an earlier process comes when the next process has begun to
     * record. If several processes of the app are recording, each of them gets every profile. Results of the
     * app's own requests to ProfilingManager do not come here.
     *
     * @param profile the file, where the system has put it; the app may send and delete it
     * @param trigger the event at which it was taken, {@code ProfilingTrigger.TRIGGER_TYPE_*}: 2 an ANR, 3 a
     *     suspected hang, 7 an OutOfMemoryError, 8 an anomaly, 9 the end of the process because of too
     *     much CPU use, 10 a cold start
     * @param tag what the system adds to the trigger. For a suspected hang it is the name of the report's
     *     file without {@code .lbx}, even if no report was written. Null for nothing
     */
    @WorkerThread
    void onProfile(@NonNull File profile, int trigger, @Nullable String tag);
}
