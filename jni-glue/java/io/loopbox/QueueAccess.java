// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import android.os.MessageQueue;
import androidx.annotation.MainThread;
import androidx.annotation.NonNull;
import java.lang.reflect.Field;

/**
 * The hidden fields behind the head of the main Looper's queue, for {@link Config.Builder#pollPeek}. This
 * library has no implementation; the artifact loopbox-inhouse, for builds that are not distributed by a
 * store, has one.
 */
public interface QueueAccess {
    /**
     * The fields in this order: MessageQueue's first message; then Message's next message, time, target and
     * callback.
     *
     * @throws Exception when access to a field is refused, or this queue is no linked list; the report has
     *     the exception's text, and messages get no names from the queue
     */
    @MainThread
    @NonNull
    Field[] fields(@NonNull MessageQueue queue) throws Exception;
}
