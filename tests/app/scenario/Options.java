package scenario;

import io.loopbox.Config;
import io.loopbox.inhouse.NativeThreadAccess;
import io.loopbox.inhouse.QueueHead;
import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** The arguments of a scenario, key=value, and the recorder's configuration that they describe. */
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

    private boolean has(String key) {
        return values.containsKey(key);
    }

    private boolean on(String key) {
        String value = values.get(key);
        if (!value.equals("on") && !value.equals("off")) {
            throw new IllegalArgumentException(key + " is on or off, not " + value);
        }
        return value.equals("on");
    }

    /** A builder with everything that the arguments ask for. */
    public Config.Builder config() {
        return config(new File(text("dir", ".")));
    }

    /** A builder with everything that the arguments ask for, but with this folder for reports. */
    public Config.Builder config(File folder) {
        Config.Builder builder = new Config.Builder(folder);
        builder.observerAccess(is("access", "native") ? new NativeThreadAccess() : null);
        builder.pollPeek(is("peek", "on") ? new QueueHead() : null);
        builder.pendingMs(2_000);
        // Made from jni-glue/options.toml: arguments
        if (has("groupMs")) builder.groupMs(number("groupMs", 0));
        if (has("detailMs")) builder.detailMs(number("detailMs", 0));
        if (has("slots")) builder.slots(number("slots", 0));
        if (has("detailsPerRecord")) builder.detailsPerRecord(number("detailsPerRecord", 0));
        if (has("sampling")) builder.sampling(on("sampling"));
        if (has("sampleOnsetMs")) builder.sampleOnsetMs(number("sampleOnsetMs", 0));
        if (has("sampleIntervalMs")) builder.sampleIntervalMs(number("sampleIntervalMs", 0));
        if (has("sampleOnce")) builder.sampleOnce(on("sampleOnce"));
        if (has("minSamples")) builder.minSamples(number("minSamples", 0));
        if (has("trees")) builder.trees(number("trees", 0));
        if (has("allNames")) builder.allNames(on("allNames"));
        if (has("hook")) builder.hook(Config.Hook.valueOf(text("hook", "")));
        if (has("hiddenApi")) builder.hiddenApi(Config.HiddenApi.valueOf(text("hiddenApi", "")));
        if (has("runningName")) builder.runningName(Config.RunningName.valueOf(text("runningName", "")));
        if (has("sigQuit")) builder.sigQuit(on("sigQuit"));
        if (has("hangMs")) builder.hangMs(number("hangMs", 0));
        if (has("printerCheckMs")) builder.printerCheckMs(number("printerCheckMs", 0));
        if (has("pendingLines")) builder.pendingLines(number("pendingLines", 0));
        if (has("pendingMs")) builder.pendingMs(number("pendingMs", 0));
        if (has("keepObjects")) builder.keepObjects(on("keepObjects"));
        if (has("redactThreadNames")) builder.redactThreadNames(on("redactThreadNames"));
        if (has("digestAnnotations")) builder.digestAnnotations(on("digestAnnotations"));
        if (has("autoScene")) builder.autoScene(on("autoScene"));
        if (has("watchInput")) builder.watchInput(on("watchInput"));
        if (has("mainProcessOnly")) builder.mainProcessOnly(on("mainProcessOnly"));
        if (has("pauseInBackground")) builder.pauseInBackground(on("pauseInBackground"));
        if (has("systemProfiles")) builder.systemProfiles(on("systemProfiles"));
        if (has("hangTraceMs")) builder.hangTraceMs(number("hangTraceMs", 0));
        if (has("anrWarnings")) builder.anrWarnings(on("anrWarnings"));
        if (has("keepProcessState")) builder.keepProcessState(on("keepProcessState"));
        if (has("appVersion")) builder.appVersion(text("appVersion", ""));
        // End of what is made from jni-glue/options.toml
        return builder.listener(new PrintingListener());
    }
}
