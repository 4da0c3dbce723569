// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** Is called with the system's warnings of an ANR of this app. */
public interface WarningSink {
    /**
     * On a thread of Binder, with a lock of the system's listeners held: returns at once. May be called more
     * than once for one warning, and for those that are of another process of the app.
     *
     * @param type AnrTypes.ANR_TYPE_*
     */
    void onWarning(int id, int type, long consumedMs, long timeoutMs);
}
