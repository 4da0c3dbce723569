package androidx.startup;

import android.content.ContentProvider;
import android.content.Context;
import java.util.ArrayList;
import java.util.List;
import scenario.Script;

/**
 * App Startup's own provider, as far as an app sees it: creates the initializers that the manifest names,
 * their dependencies first, and gives each the Application. {@link #NAMES} replaces the manifest.
 */
public final class InitializationProvider extends ContentProvider {
    public static final List<String> NAMES = new ArrayList<String>();

    @Override
    public boolean onCreate() {
        try {
            for (String name : NAMES) {
                initialize(Class.forName(name).asSubclass(Initializer.class));
            }
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
        return true;
    }

    @SuppressWarnings("unchecked")
    private void initialize(Class<? extends Initializer> type) throws ReflectiveOperationException {
        Initializer<?> initializer = type.getDeclaredConstructor().newInstance();
        for (Class<? extends Initializer<?>> needed : initializer.dependencies()) {
            initialize(needed);
        }
        Context application = getContext().getApplicationContext();
        Script.say("initialized: " + initializer.create(application));
    }
}
