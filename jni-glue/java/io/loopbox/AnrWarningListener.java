// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.WorkerThread;

/**
 * A {@link Listener} that is also notified when the system warns of an ANR, before that ANR, on Android 17
 * and newer. It is a separate interface for the same reasons as {@link FirstFileListener}.
 */
public interface AnrWarningListener extends Listener {
    /**
     * Called like {@link #onReport}, when the system warns of an ANR of this app while the main thread of
     * this process is late: it has run one message for a second, or a message has been due for a second. As a
     * rule half of the time-out has passed then, and often no ANR follows: main may go on. What the recorder
     * knows at this moment is on the disk already, for the next launch.
     *
     * <p>Use it for what must be done before the system ends the process, for example setting a crash SDK's
     * keys. Do not use it for uploads: there is no report yet, the device is busy, and the process may be
     * gone in a moment. The system does not warn of each ANR: it warns for services and for input that finds
     * no window, but not for a window that does not take its input, nor for broadcasts, providers and jobs.
     *
     * @param warning what the system reports about the coming ANR
     */
    @WorkerThread
    void onAnrWarning(@NonNull AnrWarning warning);
}
