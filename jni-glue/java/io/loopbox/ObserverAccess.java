// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.MainThread;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;

/**
 * Another way to the hidden field Looper.sObserver, for where plain reflection is refused. This library has
 * no implementation; the artifact loopbox-inhouse, for builds that are not distributed by a store, has one.
 */
public interface ObserverAccess {
    /** The name of this way to access the field. The recorder's status shows it: "Observer by NAME". */
    @NonNull
    String name();

    /**
     * Reads the field.
     *
     * @throws Exception when the field cannot be read; then this way gives no Observer
     */
    @MainThread
    @Nullable
    Object read() throws Exception;

    /**
     * Sets the field.
     *
     * @throws Exception when the field cannot be written
     */
    @MainThread
    void write(@Nullable Object observer) throws Exception;
}
