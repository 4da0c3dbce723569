package scenario;

import io.loopbox.Config;
import io.loopbox.inhouse.NativeThreadAccess;
import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** The arguments of a scenario, key=value, and the recorder's configuration that they stand for. */
public final class Options {
    private final Map<String, String> values = new HashMap<String, String>();

    public Options(String[] arguments) {
        for (String argument : arguments) {
            int equals = argument.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("not key=value: " + argument);
            }
            values.put(argument.substring(0, equals), argument.substring(equals + 1));
        }
    }

    public String text(String key, String otherwise) {
        String value = values.get(key);
        return value == null ? otherwise : value;
    }

    public int number(String key, int otherwise) {
        String value = values.get(key);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    public boolean is(String key, String value) {
        return value.equals(values.get(key));
    }

    /** A builder with everything that the arguments ask for. */
    public Config.Builder config() {
        Config.Builder builder = new Config.Builder(new File(text("dir", ".")));
        builder.hook(Config.Hook.valueOf(text("hook", "AUTO")));
        builder.hiddenApi(Config.HiddenApi.valueOf(text("hidden", "REFLECTION")));
        builder.observerAccess(is("access", "native") ? new NativeThreadAccess() : null);
        builder.runningName(Config.RunningName.valueOf(text("naming", "STACK")));
        builder.sampling(!is("sampling", "off"));
        builder.sigQuit(!is("sigQuit", "off"));
        builder.hangMs(number("hangMs", 5_000));
        builder.groupMs(number("groupMs", 300));
        builder.detailsPerRecord(number("detailsPerRecord", 8));
        builder.sampleOnsetMs(number("sampleOnsetMs", 50));
        builder.sampleOnce(is("once", "on"));
        builder.minSamples(number("minSamples", 95));
        builder.trees(number("trees", 10));
        builder.pendingLines(number("pendingLines", 200));
        builder.pendingMs(number("pendingMs", 2_000));
        builder.keepObjects(is("objects", "keep"));
        builder.redactThreadNames(is("threads", "redact"));
        builder.systemProfiles(is("profiles", "on"));
        builder.keepProcessState(is("state", "keep"));
        builder.watchInput(is("input", "on"));
        builder.printerCheckMs(number("printerCheckMs", 60_000));
        return builder.listener(new PrintingListener());
    }
}
