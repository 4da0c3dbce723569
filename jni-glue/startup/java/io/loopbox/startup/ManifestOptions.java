// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.startup;

import android.content.Context;
import android.content.pm.PackageManager;
import android.os.Bundle;
import io.loopbox.Config;

/** The recorder's options as meta-data of the application in the manifest. */
final class ManifestOptions {
    private static final String PREFIX = "io.loopbox.";

    private ManifestOptions() {}

    /**
     * @return null where the manifest does not want the recorder
     * @throws IllegalArgumentException when it names an option that does not exist, or a value out of bounds
     */
    static Config of(Context context) {
        Bundle all;
        try {
            PackageManager packages = context.getPackageManager();
            all = packages.getApplicationInfo(context.getPackageName(), PackageManager.GET_META_DATA).metaData;
        } catch (PackageManager.NameNotFoundException impossible) {
            return null;
        }
        if (all == null || !Boolean.TRUE.equals(all.get(PREFIX + "enabled"))) {
            return null;
        }
        Config.Builder builder = new Config.Builder();
        for (String name : all.keySet()) {
            if (name.startsWith(PREFIX) && !name.equals(PREFIX + "enabled")) {
                set(builder, name, all.get(name));
            }
        }
        return builder.build();
    }

    private static void set(Config.Builder builder, String name, Object value) {
        String option = name.substring(PREFIX.length());
        boolean known;
        try {
            if (value instanceof Boolean) {
                known = setSwitch(builder, option, (Boolean) value);
            } else if (value instanceof Integer && setNumber(builder, option, (Integer) value)) {
                known = true;
            } else {
                // The build makes a number of each word that reads as one, such as the version 5.2.
                boolean isWord = value instanceof String || value instanceof Integer || value instanceof Float;
                known = isWord && setWord(builder, option, String.valueOf(value));
            }
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(name + "=" + value + ": " + wrong.getMessage(), wrong);
        }
        if (!known) {
            throw new IllegalArgumentException(name + "=" + value + ", which is no option that takes such a value");
        }
    }

    // Made from jni-glue/options.toml: manifest
    private static boolean setNumber(Config.Builder builder, String option, int value) {
        switch (option) {
            case "groupMs":
                builder.groupMs(value);
                return true;
            case "detailMs":
                builder.detailMs(value);
                return true;
            case "slots":
                builder.slots(value);
                return true;
            case "detailsPerRecord":
                builder.detailsPerRecord(value);
                return true;
            case "sampleOnsetMs":
                builder.sampleOnsetMs(value);
                return true;
            case "sampleIntervalMs":
                builder.sampleIntervalMs(value);
                return true;
            case "minSamples":
                builder.minSamples(value);
                return true;
            case "trees":
                builder.trees(value);
                return true;
            case "hangMs":
                builder.hangMs(value);
                return true;
            case "printerCheckMs":
                builder.printerCheckMs(value);
                return true;
            case "pendingLines":
                builder.pendingLines(value);
                return true;
            case "pendingMs":
                builder.pendingMs(value);
                return true;
            case "hangTraceMs":
                builder.hangTraceMs(value);
                return true;
            default:
                return false;
        }
    }

    private static boolean setSwitch(Config.Builder builder, String option, boolean value) {
        switch (option) {
            case "sampling":
                builder.sampling(value);
                return true;
            case "sampleOnce":
                builder.sampleOnce(value);
                return true;
            case "allNames":
                builder.allNames(value);
                return true;
            case "sigQuit":
                builder.sigQuit(value);
                return true;
            case "keepObjects":
                builder.keepObjects(value);
                return true;
            case "redactThreadNames":
                builder.redactThreadNames(value);
                return true;
            case "digestAnnotations":
                builder.digestAnnotations(value);
                return true;
            case "autoScene":
                builder.autoScene(value);
                return true;
            case "watchInput":
                builder.watchInput(value);
                return true;
            case "mainProcessOnly":
                builder.mainProcessOnly(value);
                return true;
            case "pauseInBackground":
                builder.pauseInBackground(value);
                return true;
            case "systemProfiles":
                builder.systemProfiles(value);
                return true;
            case "anrWarnings":
                builder.anrWarnings(value);
                return true;
            case "keepProcessState":
                builder.keepProcessState(value);
                return true;
            default:
                return false;
        }
    }

    private static boolean setWord(Config.Builder builder, String option, String value) {
        switch (option) {
            case "hook":
                builder.hook(Config.Hook.valueOf(value));
                return true;
            case "hiddenApi":
                builder.hiddenApi(Config.HiddenApi.valueOf(value));
                return true;
            case "runningName":
                builder.runningName(Config.RunningName.valueOf(value));
                return true;
            case "appVersion":
                builder.appVersion(value);
                return true;
            default:
                return false;
        }
    }
    // End of what is made from jni-glue/options.toml
}
