// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.internal.recording.MonitorSettings;
import java.io.File;

/** What the performance monitor finds and where it writes. Made by a {@link Builder}. */
public final class MonitorConfig {
    final MonitorSettings settings;

    private MonitorConfig(MonitorSettings settings) {
        this.settings = settings;
    }

    /** Collects values; each has a default. */
    public static final class Builder {
        private final MonitorSettings settings = new MonitorSettings();

        // Made from jni-glue/options.toml: setters
        /**
         * Limits of the levels. A message that took longer than n of these limits is of level n. 20 to 60,000
         * ms, 1 to 8 of them, ascending; the first not less than the recorder's detailMs. Default: 100, 300.
         */
        @NonNull
        public Builder levelsMs(@NonNull long... limits) {
            settings.levelsMs = Config.Builder.ascending("levelsMs", limits, 20, 60_000);
            return this;
        }

        /**
         * Age of a message at which one stack of it goes to the listener and the log; 50 to 60,000 ms, 0 for
         * never; default 200.
         */
        @NonNull
        public Builder blockMs(long ms) {
            settings.blockMs = ms == 0 ? 0 : Config.Builder.within("blockMs", ms, 50, 60_000);
            return this;
        }

        /**
         * Time between two samples of the process while messages run. 100 to 60,000 ms; default 500. Nothing
         * is sampled while none runs.
         */
        @NonNull
        public Builder sampleMs(long ms) {
            settings.sampleMs = Config.Builder.within("sampleMs", ms, 100, 60_000);
            return this;
        }

        /**
         * Where the files go: a folder that only this app can read. By default it is the folder "monitor" in
         * the folder of the reports.
         */
        @NonNull
        public Builder directory(@Nullable File folder) {
            settings.directory = folder;
            return this;
        }

        /** Whether the monitor writes files. On by default. */
        @NonNull
        public Builder files(boolean write) {
            settings.files = write;
            return this;
        }

        /** How many days are kept, the running one included. 1 to 100; default 7. */
        @NonNull
        public Builder keepDays(int days) {
            settings.keepDays = (int) Config.Builder.within("keepDays", days, 1, 100);
            return this;
        }

        /**
         * How many bytes all files have at most. 16 KiB to 64 MiB; default 2 MiB. The oldest days go first.
         * The running day's file is not deleted: when it alone has this many bytes, nothing more is written
         * that day.
         */
        @NonNull
        public Builder maxBytes(long bytes) {
            settings.maxBytes = Config.Builder.within("maxBytes", bytes, 16_384, 67_108_864);
            return this;
        }

        /** Whether the stack of a message that blocks goes to the system's log. On by default. */
        @NonNull
        public Builder log(boolean on) {
            settings.log = on;
            return this;
        }

        /** What is called with each stall. */
        @NonNull
        public Builder listener(@Nullable MonitorListener added) {
            settings.listener = added;
            return this;
        }

        /** What sends files when {@link Monitor#upload} is called. */
        @NonNull
        public Builder uploader(@Nullable MonitorUploader sends) {
            settings.uploader = sends;
            return this;
        }

        /**
         * How long to wait after a failed upload before the file is tried again, while the app is used. 100
         * to 86,400,000 ms; default 60,000. The time doubles each time, up to an hour.
         */
        @NonNull
        public Builder uploadRetryMs(long ms) {
            settings.uploadRetryMs = Config.Builder.within("uploadRetryMs", ms, 100, 86_400_000);
            return this;
        }
        // End of what is made from jni-glue/options.toml

        /** Creates the configuration from the present values. */
        @NonNull
        public MonitorConfig build() {
            return new MonitorConfig(settings.copy());
        }
    }
}
