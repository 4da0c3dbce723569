package androidx.startup;

import android.content.Context;
import androidx.annotation.NonNull;
import java.util.List;

/** Of App Startup (androidx.startup:startup-runtime), whose ContentProvider makes and calls it. */
public interface Initializer<T> {
    @NonNull
    T create(@NonNull Context context);

    @NonNull
    List<Class<? extends Initializer<?>>> dependencies();
}
