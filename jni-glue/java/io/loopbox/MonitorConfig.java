// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.internal.MonitorSettings;
import java.io.File;

/** What the performance monitor looks for and where it writes. Made by a {@link Builder}. */
public final class MonitorConfig {
    final MonitorSettings settings;

    private MonitorConfig(MonitorSettings settings) {
        this.settings = settings;
    }

    /** Collects values; each has a default. */
    public static final class Builder {
        private final MonitorSettings settings = new MonitorSettings();

        /**
         * Limits of the levels, ascending; a message that took longer than n of them is of level n. 1 to 8 limits of 20 to
         * 60,000 ms; 100 and 300 ms unless it is called. The first must not be less than {@link Config.Builder#detailMs}.
         */
        @NonNull
        public Builder levelsMs(@NonNull long... limits) {
            if (limits.length < 1 || limits.length > 8) {
                throw new IllegalArgumentException(limits.length + " levels, must be 1 to 8");
            }
            for (int at = 0; at < limits.length; at++) {
                within("a level", limits[at], at == 0 ? 20 : limits[at - 1] + 1, 60_000);
            }
            settings.levelsMs = limits.clone();
            return this;
        }

        /** Age of a message at which one stack of it goes to the listener and the log; 50 to 60,000 ms, 0 for never. 200 ms. */
        @NonNull
        public Builder blockMs(long ms) {
            settings.blockMs = ms == 0 ? 0 : within("blockMs", ms, 50, 60_000);
            return this;
        }

        /**
         * Time between two samples of the process while messages run, 100 to 60,000 ms; 500 ms. Nothing is sampled while none
         * runs.
         */
        @NonNull
        public Builder sampleMs(long ms) {
            settings.sampleMs = within("sampleMs", ms, 100, 60_000);
            return this;
        }

        /** Where the files go: a folder that only this app can read. The folder "monitor" beside reports unless it is given. */
        @NonNull
        public Builder directory(@Nullable File folder) {
            settings.directory = folder;
            return this;
        }

        /** Whether files are written; they are unless it says otherwise. */
        @NonNull
        public Builder files(boolean write) {
            settings.files = write;
            return this;
        }

        /** How many days are kept, the running one included. 1 to 100; 7. */
        @NonNull
        public Builder keepDays(int days) {
            settings.keepDays = (int) within("keepDays", days, 1, 100);
            return this;
        }

        /**
         * How many bytes all files have at most, 16 KiB to 64 MiB; 2 MiB. The oldest days go first. The running day is not
         * deleted: when it alone has as much, nothing more is written that day.
         */
        @NonNull
        public Builder maxBytes(long bytes) {
            settings.maxBytes = within("maxBytes", bytes, 16 << 10, 64 << 20);
            return this;
        }

        /** Whether the stack of a message that blocks goes to the system's log; it does unless it says otherwise. */
        @NonNull
        public Builder log(boolean on) {
            settings.log = on;
            return this;
        }

        /** What is called with each stall. */
        @NonNull
        public Builder listener(@Nullable MonitorListener told) {
            settings.listener = told;
            return this;
        }

        /** What sends files when {@link Monitor#upload} is called. */
        @NonNull
        public Builder uploader(@Nullable MonitorUploader sends) {
            settings.uploader = sends;
            return this;
        }

        /**
         * How long after a file could not be sent it is tried again while the app is used, 100 ms to a day; a minute. The time
         * doubles each time, up to an hour.
         */
        @NonNull
        public Builder uploadRetryMs(long ms) {
            settings.uploadRetryMs = within("uploadRetryMs", ms, 100, 86_400_000);
            return this;
        }

        /** As it is now, for good. */
        @NonNull
        public MonitorConfig build() {
            return new MonitorConfig(settings.copy());
        }

        private static long within(String name, long value, long least, long most) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
            }
            return value;
        }
    }
}
