// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.startup;

import android.content.Context;
import android.util.Log;
import androidx.annotation.NonNull;
import androidx.startup.Initializer;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.Status;
import java.util.Collections;
import java.util.List;

/**
 * Installs the recorder from App Startup's ContentProvider, before Application.onCreate, where the app's
 * manifest asks for it: {@code <meta-data android:name="io.loopbox.enabled" android:value="true" />} in its
 * {@code <application>}. Without that entry it does nothing. Further entries {@code io.loopbox.NAME} set the
 * options of {@link Config.Builder} that take a number, a word or a boolean. Other initializers that depend
 * on this one run after the installation.
 */
public final class LoopboxInitializer implements Initializer<Status> {
    private static final String TAG = "loopbox";

    /** Made by App Startup. */
    public LoopboxInitializer() {}

    /**
     * Installs the recorder if the manifest wants it.
     *
     * @return what is on and what is off
     */
    @NonNull
    @Override
    public Status create(@NonNull Context context) {
        try {
            Config config = ManifestOptions.of(context);
            if (config != null) {
                return Loopbox.install(context, config);
            }
        } catch (IllegalArgumentException wrong) {
            // The app starts without the recorder rather than not at all.
            Log.w(TAG, "not installed: the manifest has " + wrong.getMessage());
        }
        return Loopbox.status();
    }

    @NonNull
    @Override
    public List<Class<? extends Initializer<?>>> dependencies() {
        return Collections.emptyList();
    }
}
