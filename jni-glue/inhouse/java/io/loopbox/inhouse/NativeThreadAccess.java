// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.inhouse;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.ObserverAccess;

/**
 * Reads and sets Looper.sObserver through JNI from a thread without Java frames, which the hidden-API check
 * of some Android versions trusts. For builds that are not distributed by a store: Google Play forbids apps
 * that work around restrictions on non-SDK interfaces. Give it to {@code new
 * Config.Builder().observerAccess(new NativeThreadAccess())}.
 */
public final class NativeThreadAccess implements ObserverAccess {
    private static boolean loaded;

    @NonNull
    @Override
    public String name() {
        return "native thread";
    }

    @Nullable
    @Override
    public Object read() throws NoSuchFieldException {
        load();
        return get();
    }

    @Override
    public void write(@Nullable Object observer) throws NoSuchFieldException {
        load();
        set(observer);
    }

    private static synchronized void load() {
        if (!loaded) {
            System.loadLibrary("loopbox_inhouse");
            loaded = true;
        }
    }

    private static native Object get() throws NoSuchFieldException;

    private static native void set(Object observer) throws NoSuchFieldException;
}
