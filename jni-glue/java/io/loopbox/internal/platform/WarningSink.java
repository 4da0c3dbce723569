// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** A receiver of the system's warnings of an ANR of this app. */
public interface WarningSink {
    /**
     * Called on a thread of Binder, with a lock of the system's listeners held, so it must return at once.
     * May be called more than once for one warning, and for warnings about another process of the app.
     *
     * @param type AnrTypes.ANR_TYPE_*
     */
    void onWarning(int id, int type, long consumedMs, long timeoutMs);
}
