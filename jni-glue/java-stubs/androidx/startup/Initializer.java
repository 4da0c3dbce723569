package androidx.startup;

import android.content.Context;
import androidx.annotation.NonNull;
import java.util.List;

/** Of App Startup (androidx.startup:startup-runtime): what its ContentProvider makes and calls. */
public interface Initializer<T> {
    @NonNull
    T create(@NonNull Context context);

    @NonNull
    List<Class<? extends Initializer<?>>> dependencies();
}
