package phone;

import android.app.ActivityThread;
import android.app.ContextImpl;
import android.content.ContentProvider;
import android.content.pm.ProviderInfo;
import android.os.Bundle;
import android.os.Looper;
import androidx.startup.InitializationProvider;
import io.loopbox.startup.LoopboxInitializer;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import scenario.Options;

/**
 * An app that starts, is used and is ended as on a phone, and that can hang wherever a main thread can.
 * {@link Places} lists the places where the app's own code runs. When main reaches a place for the first
 * time, the app prints {@code at PLACE: } with the methods below it on the stack.
 *
 * <p>Arguments, in addition to those of {@link Options}:
 *
 * <ul>
 *   <li>{@code hang=PLACE,...}: the places where main hangs;
 *   <li>{@code how=}: the way to hang, see {@link Hang};
 *   <li>{@code ms=}: how long a hang lasts, or {@code gate=}: the file that ends it;
 *   <li>{@code install=}: where the recorder is installed: attach, provider, onCreate, none, or startup, that
 *   is by App Startup;
 *   <li>{@code meta=NAME=VALUE,...}: for startup, the entries of the manifest;
 *   <li>{@code dump=on}: the app asks for a report at the end;
 *   <li>{@code dumpGate=}: it asks for a report when this file exists;
 *   <li>{@code printGate=}: see {@link SlowlyPrinted};
 *   <li>{@code displaced=yes}: another library takes the recorder's Printer out once the app is bound.
 * </ul>
 */
public final class Main {
    static Options options;

    private Main() {}

    /** Works as ActivityThread.main does. */
    public static void main(String[] arguments) {
        options = new Options(arguments);
        Looper.prepareMainLooper();
        File directory = new File(options.text("dir", "."));
        ContextImpl context = new ContextImpl(directory, "com.example.phone", "com.example.phone");
        ActivityThread thread = new ActivityThread(context);
        List<ProviderInfo> providers = new ArrayList<ProviderInfo>();
        if (options.is("install", "startup")) {
            InitializationProvider.NAMES.add(LoopboxInitializer.class.getName());
            context.getApplicationInfo().metaData = manifest(options.text("meta", ""));
            providers.add(provider(InitializationProvider.class));
        }
        providers.add(provider(PhoneProvider.class));
        ActivityThread.AppBindData app = new ActivityThread.AppBindData(PhoneApplication.class, providers);
        if (!options.text("dumpGate", "").isEmpty()) {
            new Thread(new GatedDump(new File(options.text("dumpGate", "")))).start();
        }
        new Thread(new SystemServer(thread.getApplicationThread(), app), "Binder:1").start();
        Looper.loop();
        throw new IllegalStateException("Main thread loop unexpectedly exited");
    }

    private static ProviderInfo provider(Class<? extends ContentProvider> type) {
        ProviderInfo provider = new ProviderInfo();
        provider.name = type.getName();
        return provider;
    }

    /**
     * Parses {@code NAME=VALUE,...} as the system parses meta-data of a manifest: each value becomes an int,
     * a float, a boolean or else a String. Returns null when {@code said} is empty.
     */
    private static Bundle manifest(String said) {
        if (said.isEmpty()) {
            return null;
        }
        Bundle values = new Bundle();
        for (String one : said.split(",")) {
            String[] parts = one.split("=", 2);
            if (parts[1].matches("-?[0-9]+")) {
                values.putInt(parts[0], Integer.parseInt(parts[1]));
            } else if (parts[1].matches("-?[0-9]*\\.[0-9]+")) {
                values.putFloat(parts[0], Float.parseFloat(parts[1]));
            } else if (parts[1].equals("true") || parts[1].equals("false")) {
                values.putBoolean(parts[0], Boolean.parseBoolean(parts[1]));
            } else {
                values.putString(parts[0], parts[1]);
            }
        }
        return values;
    }
}
