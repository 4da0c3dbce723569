package androidx.startup;

import android.content.Context;
import androidx.annotation.NonNull;
import java.util.List;

/**
 * Declares this interface of App Startup (androidx.startup:startup-runtime). Its ContentProvider creates and
 * calls the implementations.
 */
public interface Initializer<T> {
    @NonNull
    T create(@NonNull Context context);

    @NonNull
    List<Class<? extends Initializer<?>>> dependencies();
}
