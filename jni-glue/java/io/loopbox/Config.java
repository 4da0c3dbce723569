// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.internal.recording.Settings;
import java.io.File;
import java.util.List;

/**
 * What the recorder does and under which limits. Made by a {@link Builder}; the defaults are the ones of the
 * article that Loopbox is built on.
 */
public final class Config {
    /** By which mechanism the recorder sees the main Looper's messages, if by any. */
    public enum Hook {
        /**
         * Uses {@link #OBSERVER} where the platform has a usable Observer (Android 10). Uses {@link #PRINTER}
         * elsewhere, and where the Observer is refused.
         */
        AUTO,
        /**
         * Only the hidden Looper.Observer: costs half a microsecond a message on a developer's machine, and
         * makes no object.
         */
        OBSERVER,
        /**
         * Only the public Looper.setMessageLogging. With it the Looper builds two strings for each message:
         * 1.7 KB of objects and some 3 microseconds on a developer's machine. The strings contain what the
         * message's Handler and callback print of themselves. So the app's own toString methods run for each
         * message, on the main thread, and one that throws ends the app.
         */
        PRINTER,
        /**
         * Replaces the native method in which a Looper's queue waits: MessageQueue.nativePollOnce. It works
         * on every level, in processes of 64 bits. It costs a 75th of {@link #PRINTER} in interpreted code
         * and an 18th in compiled code, makes no object, and leaves Looper's Observer and Printer to other
         * libraries. It does not see the Message. A long message gets its name from its stacks. Messages of
         * activities get their names from callbacks, and so do messages of frames where frames are watched.
         * Other short messages have no names. Crash services show libloopbox.so in the native stack of a main
         * thread that waits. Where the method cannot be replaced, {@link #AUTO} is used.
         */
        POLL,
        /**
         * No hook: no code runs and no object is made for a message, and the app's toString methods run only
         * for the pending queue of a report. The main thread is checked twice a second, in the background
         * once a second. Work that lasts longer than that is sampled, watched, saved and reported. There is
         * no history of messages: of earlier work, only the stacks of what took a second or so are known.
         * Messages that follow each other without a pause are recorded as one, and the message that starts
         * the app is not watched from its start. It cannot be combined with {@link Builder#watchInput}.
         */
        NONE
    }

    /**
     * How far to go beyond the public API. Store review may reject apps that circumvent the restrictions on
     * hidden API.
     */
    public enum HiddenApi {
        /** Public API only: the Printer hook, and no chaining to a Printer that was there before. */
        NONE,
        /** Plain reflection. Where the platform refuses it, the Printer hook is used. */
        REFLECTION
    }

    /**
     * Where the name of the running message comes from, when the Observer hook records. The Observer itself
     * is given the message only at its end.
     */
    public enum RunningName {
        /**
         * The message's own sampled stack: no cost per message. The Printer steps in when sampling is off.
         */
        STACK,
        /**
         * A Printer next to the Observer. The name then also has the message's {@code what}, but Looper
         * builds two strings for each message.
         */
        PRINTER
    }

    /**
     * An event at which the system may be asked to take a profile, besides an ANR. Android 17 knows all of
     * these.
     */
    public enum ProfileTrigger {
        /** An OutOfMemoryError. The profile is a dump of the Java heap, which contains the user's data. */
        OOM(7),
        /** Behaviour that the system classifies as abnormal. The kind of the profile depends on it. */
        ANOMALY(8),
        /** The system ended the process, because it used too much CPU. The profile is a trace. */
        KILL_EXCESSIVE_CPU_USAGE(9),
        /**
         * A cold start. The profile is a trace with stacks, which ends at Activity.reportFullyDrawn or after
         * five seconds.
         */
        COLD_START(10);

        /** ProfilingTrigger.TRIGGER_TYPE_* of the platform. */
        final int type;

        ProfileTrigger(int type) {
            this.type = type;
        }
    }

    final Settings settings;

    private Config(Settings settings) {
        this.settings = settings;
    }

    /** Collects values. {@link #build} checks that they fit together. */
    public static final class Builder {
        private final Settings settings = new Settings();
        private final boolean ownDirectory;

        /**
         * @param directory where reports and the ring file go: a folder that only this app can read. It is
         *     made when it is missing.
         */
        public Builder(@NonNull File directory) {
            settings.directory = directory;
            ownDirectory = true;
        }

        /** Reports go to a folder of the app that is in no backup: Context.getNoBackupFilesDir(). */
        public Builder() {
            ownDirectory = false;
        }

        // Made from jni-glue/options.toml: setters
        /**
         * A group of messages is full when they took this long together. A message that takes this long gets
         * a separate record. 10 to 10,000 ms.
         */
        @NonNull
        public Builder groupMs(long ms) {
            settings.groupMs = within("groupMs", ms, 10, 10_000);
            return this;
        }

        /** A message that takes at least this long is kept by name. 1 to 10,000 ms, less than groupMs. */
        @NonNull
        public Builder detailMs(long ms) {
            settings.detailMs = within("detailMs", ms, 1, 10_000);
            return this;
        }

        /** How many records the history keeps. 10 to 500. */
        @NonNull
        public Builder slots(int count) {
            settings.slots = (int) within("slots", count, 10, 500);
            return this;
        }

        /** How many messages a record keeps by name. When more are slow, the slowest have a name. 1 to 8. */
        @NonNull
        public Builder detailsPerRecord(int count) {
            settings.detailsPerRecord = (int) within("detailsPerRecord", count, 1, 8);
            return this;
        }

        /** Whether stacks of long messages are sampled. */
        @NonNull
        public Builder sampling(boolean on) {
            settings.sampling = on;
            return this;
        }

        /** Age of a message at which sampling begins. 10 to 60,000 ms. */
        @NonNull
        public Builder sampleOnsetMs(long ms) {
            settings.sampleOnsetMs = within("sampleOnsetMs", ms, 10, 60_000);
            return this;
        }

        /** Time between two stacks. 1 to 10,000 ms. */
        @NonNull
        public Builder sampleIntervalMs(long ms) {
            settings.sampleIntervalMs = within("sampleIntervalMs", ms, 1, 10_000);
            return this;
        }

        /**
         * Whether a message gets one stack only, when it is {@link #sampleOnsetMs} old. A block monitor does
         * so, usually at 200 ms. Such a stack is kept whatever {@link #minSamples} says. A report that is
         * written while the message runs takes one more.
         */
        @NonNull
        public Builder sampleOnce(boolean once) {
            settings.sampleOnce = once;
            return this;
        }

        /**
         * The shortest duration of a finished message that keeps its stacks, as a number of
         * {@link #sampleIntervalMs}. 1 to 2,000.
         */
        @NonNull
        public Builder minSamples(int samples) {
            settings.minSamples = (int) within("minSamples", samples, 1, 2_000);
            return this;
        }

        /** How many finished messages keep their stacks. 1 to 100. */
        @NonNull
        public Builder trees(int count) {
            settings.trees = (int) within("trees", count, 1, 100);
            return this;
        }

        /**
         * Whether the app's own messages keep the class names of target and callback. Without it only the
         * framework's component messages keep them.
         */
        @NonNull
        public Builder allNames(boolean keep) {
            settings.allNames = keep;
            return this;
        }

        /** Which hook to use: {@link Hook} says what each costs. */
        @NonNull
        public Builder hook(@NonNull Hook choice) {
            present("hook", choice);
            settings.observer = choice != Hook.PRINTER && choice != Hook.NONE;
            settings.printer = choice != Hook.OBSERVER && choice != Hook.NONE;
            settings.poll = choice == Hook.POLL;
            return this;
        }

        /** How far to go beyond the public API. */
        @NonNull
        public Builder hiddenApi(@NonNull HiddenApi allowed) {
            present("hiddenApi", allowed);
            settings.mayReflect = allowed != HiddenApi.NONE;
            return this;
        }

        /** Another way to the Observer, for where plain reflection cannot read it. None by default. */
        @NonNull
        public Builder observerAccess(@Nullable ObserverAccess access) {
            settings.observerAccess = access;
            return this;
        }

        /**
         * How the poll hook finds the head of the queue. With it, the hook reads the head before main takes a
         * message. So every recorded message has a name with its {@code what}, and the time that it waited in
         * the queue. If another thread changes the head between the two steps, the message gets the name and
         * the time of another message. Where threads do so all the time, this happens to one message in some
         * hundreds. By default the hook reads nothing. {@code loopbox-inhouse} has an implementation.
         */
        @NonNull
        public Builder pollPeek(@Nullable QueueAccess access) {
            settings.pollPeek = access;
            return this;
        }

        /** What names the running message when the Observer hook records. */
        @NonNull
        public Builder runningName(@NonNull RunningName source) {
            present("runningName", source);
            settings.namedByPrinter = source == RunningName.PRINTER;
            return this;
        }

        /** Whether SIGQUIT, which the system sends at an ANR, leaves a report. */
        @NonNull
        public Builder sigQuit(boolean on) {
            settings.sigQuit = on;
            return this;
        }

        /**
         * How long a message may run until it counts as a hang and leaves a report, whether the system minds
         * or not. 500 to 60,000 ms. A message of the framework for a component may run longer, because the
         * system allows it more time: a service's message may run four times as long. Time in which the
         * process is frozen or has no processor does not count.
         */
        @NonNull
        public Builder hangMs(long ms) {
            settings.hangMs = within("hangMs", ms, 500, 60_000);
            return this;
        }

        /**
         * The least time between two attempts to put the hook back after another library has displaced it.
         * 100 to 3,600,000 ms. The first attempt is made at once. The time doubles with each attempt. When
         * the doubled time is longer than an hour, the hook is not put back any more.
         */
        @NonNull
        public Builder printerCheckMs(long ms) {
            settings.printerCheckMs = within("printerCheckMs", ms, 100, 3_600_000);
            return this;
        }

        /** How many lines of the message queue a report keeps. 10 to 2,000. */
        @NonNull
        public Builder pendingLines(int lines) {
            settings.pendingLines = (int) within("pendingLines", lines, 10, 2_000);
            return this;
        }

        /** How long reading the message queue may take. Main does not wait for it. 10 to 2,000 ms. */
        @NonNull
        public Builder pendingMs(long ms) {
            settings.pendingMs = within("pendingMs", ms, 10, 2_000);
            return this;
        }

        /**
         * Whether a report has the text of each pending message's {@code obj}. The text is the app's data
         * (intents, user input), and is left out unless the app asks for it here. To get the text, a thread
         * of the recorder calls the obj's {@code toString}, and holds no lock during the call.
         */
        @NonNull
        public Builder keepObjects(boolean keep) {
            settings.keepObjects = keep;
            return this;
        }

        /**
         * Whether reports have "redacted" in place of threads' names, except for threads that ART and the
         * framework start themselves. The app and its libraries name threads, and may put anything into a
         * name.
         */
        @NonNull
        public Builder redactThreadNames(boolean redact) {
            settings.redactThreadNames = redact;
            return this;
        }

        /**
         * Whether {@link Report#getDigest} ends with the annotations. The links to crash services send the
         * digest as it is.
         */
        @NonNull
        public Builder digestAnnotations(boolean keep) {
            settings.digestAnnotations = keep;
            return this;
        }

        /**
         * Adds a listener that is called with each report. A {@link FirstFileListener} is also called as soon
         * as a report has a file. Each listener has a separate thread. Before a call with a complete report,
         * this thread waits for the listeners of {@link Loopbox#addListener}, at most two seconds. It waits
         * for no other listener. Null removes all listeners that were given here.
         */
        @NonNull
        public Builder listener(@Nullable Listener added) {
            settings.listeners = ListenerSink.with(settings.listeners, added);
            return this;
        }

        /** Sets the Redactor, which sees each annotation, also those given here, before it is kept. */
        @NonNull
        public Builder redactor(@Nullable Redactor asked) {
            settings.redactor = asked;
            return this;
        }

        /**
         * From this installation on, takes the lines that the recorder's Java code would write to the
         * system's log, and the exceptions that it keeps from the app. Null for the system's log. Lines of
         * native code, and lines before an installation, go to the system's log in any case.
         */
        @NonNull
        public Builder logger(@Nullable Logger asked) {
            settings.logger = asked;
            return this;
        }

        /** Whether the Activity in front names the scene; the app may still call {@link Loopbox#scene}. */
        @NonNull
        public Builder autoScene(boolean on) {
            settings.autoScene = on;
            return this;
        }

        /**
         * Whether {@link Loopbox#watchInput} is called for the window of each Activity when the Activity is
         * first resumed. Off unless the app asks for it, because Window.getCallback then returns the
         * recorder's wrapper. If code casts the result to the Activity, or to the callback that a library has
         * set, the cast fails.
         */
        @NonNull
        public Builder watchInput(boolean on) {
            settings.watchInput = on;
            return this;
        }

        /** How frames of the display are recorded. None are recorded unless a FrameConfig is given here. */
        @NonNull
        public Builder frames(@Nullable FrameConfig wanted) {
            settings.frames = wanted == null ? null : wanted.settings;
            return this;
        }

        /** Whether only the app's main process is recorded, and its other processes are not. */
        @NonNull
        public Builder mainProcessOnly(boolean only) {
            settings.mainProcessOnly = only;
            return this;
        }

        /**
         * Whether recording pauses when the last Activity has stopped, until one starts again: hangs of
         * receivers, services and jobs in the background leave no report then. The start of the process is
         * recorded. A recorder that is installed later asks the system whether the app is in the background,
         * and records until it is known.
         */
        @NonNull
        public Builder pauseInBackground(boolean pause) {
            settings.pauseInBackground = pause;
            return this;
        }

        /**
         * Whether the system is asked to take a profile of ANRs, on Android 16 and newer
         * ({@code ProfilingTrigger.TRIGGER_TYPE_ANR}). The profile is a trace for Perfetto of what the whole
         * device did in the last seconds. The system takes it once an hour at most, and only where it happens
         * to trace. {@link Report#getSystemProfile} is the profile's file. The recorder's trigger replaces a
         * trigger for ANRs that the app has added itself. Off unless the app asks for it.
         */
        @NonNull
        public Builder systemProfiles(boolean on) {
            settings.systemProfiles = on;
            return this;
        }

        /**
         * Adds an event at which the system should take a profile, on Android 17 and newer, where it can;
         * once an hour at most. The profile goes to {@link #profileListener}, and into no report, because it
         * is not about a hang. None unless the app asks for it; null removes all that were given.
         */
        @NonNull
        public Builder profileTrigger(@Nullable ProfileTrigger wanted) {
            settings.profileTriggers = wanted == null ? 0 : settings.profileTriggers | 1 << wanted.type;
            return this;
        }

        /**
         * The least time between two requests for a trace of the whole device. 60,000 to 86,400,000 ms, 0 for
         * never. The recorder requests a trace when a message becomes a suspect, at half of {@link #hangMs}.
         * The system gives one only if it is recording one at that time, on Android 16 QPR2 (36.1) and newer
         * ({@code ProfilingManager.requestRunningSystemTrace}). {@link Report#getHangTrace} is the trace's
         * file. Off unless the app asks for it.
         */
        @NonNull
        public Builder hangTraceMs(long ms) {
            settings.hangTraceMs = ms == 0 ? 0 : within("hangTraceMs", ms, 60_000, 86_400_000);
            return this;
        }

        /**
         * Sets the listener that is called with each profile of this app that the system takes because of
         * {@link #systemProfiles}, {@link #profileTrigger} or {@link #hangTraceMs}.
         */
        @NonNull
        public Builder profileListener(@Nullable ProfileListener added) {
            settings.profileListener = added;
            return this;
        }

        /**
         * Whether the system is asked to warn of ANRs before it calls them, on Android 17 and newer
         * ({@code ActivityManager.registerAnrWarningListener}). At a warning, the content of a report is
         * saved where it outlives the process, and {@link AnrWarningListener} is notified.
         */
        @NonNull
        public Builder anrWarnings(boolean on) {
            settings.anrWarnings = on;
            return this;
        }

        /**
         * Whether the last report of a process that has ended gets the state that the app stored with
         * {@code ActivityManager.setProcessStateSummary}: at most 128 bytes, which the system keeps since
         * Android 11. When the report is handed out, it has the state as the annotation "process_state": as
         * text, or in hexadecimal if it is no text. Off unless the app asks for it here, because the app
         * wrote the state for another reader.
         */
        @NonNull
        public Builder keepProcessState(boolean keep) {
            settings.keepProcessState = keep;
            return this;
        }

        /** The app's version name and code, as its reports shall show it. */
        @NonNull
        public Builder appVersion(@NonNull String version) {
            settings.appVersion = present("appVersion", version);
            return this;
        }
        // End of what is made from jni-glue/options.toml

        /**
         * Adds a value that describes the app to each report: at most 16 of them, in addition to "scene" and
         * "user". "user" (a pseudonym, not an account) is the one by which reports are counted per user. A
         * name that is given again gets the later value.
         *
         * @throws IllegalArgumentException for more than 16 of them, and for "foreground" and "system_start",
         *     which the recorder itself uses
         */
        @NonNull
        public Builder annotate(@NonNull String name, @NonNull String value) {
            present("annotation name", name);
            present("annotation value", value);
            if (Settings.isRecorders(name)) {
                throw new IllegalArgumentException("annotation " + name + ": the recorder itself says it");
            }
            List<String> all = settings.annotations;
            int others = 0;
            for (int at = all.size() - 2; at >= 0; at -= 2) {
                if (all.get(at).equals(name)) {
                    all.subList(at, at + 2).clear();
                } else if (!Settings.hasOwnPlace(all.get(at))) {
                    others++;
                }
            }
            all.add(name);
            all.add(value);
            others += Settings.hasOwnPlace(name) ? 0 : 1;
            within("number of annotations", others, 0, Settings.MOST_NAMES);
            return this;
        }

        /**
         * Records only a share of the users. For the other users nothing is installed, and {@link
         * Status#getReason} names this share as the reason. Other libraries call the share a sample rate; in
         * this library a sample is a stack. A hash of the id alone decides whether a user is recorded. So the
         * result is the same at each launch and in each version of app and library. A larger share contains
         * all users of a smaller one. A changed id, for example one with a word in front of it, has another
         * hash, and so may have another result. Without this call all users are recorded.
         *
         * @param share from 0, nobody, to 1, all
         * @param stableId the id of the user or of the installation, as your server knows it. It is hashed
         *     here, and neither kept nor reported. A user with an empty id is recorded only if the share is 1
         * @throws IllegalArgumentException for another share
         */
        @NonNull
        public Builder userShare(double share, @NonNull String stableId) {
            if (!(share >= 0 && share <= 1)) {
                throw new IllegalArgumentException("userShare is " + share + ", must be 0 to 1");
            }
            settings.userShare = share;
            settings.userId = present("stableId", stableId);
            return this;
        }

        /**
         * Creates the configuration.
         *
         * @throws IllegalArgumentException when the values do not fit together; the message says which
         */
        @NonNull
        public Config build() {
            if (ownDirectory) {
                present("directory", settings.directory);
            }
            if (settings.detailMs >= settings.groupMs) {
                throw new IllegalArgumentException("detailMs " + settings.detailMs + " is not less than groupMs " + settings.groupMs);
            }
            if (settings.observer && !settings.printer && !settings.mayReflect) {
                throw new IllegalArgumentException("the Observer hook is hidden API, which hiddenApi NONE forbids");
            }
            if (settings.poll && !settings.mayReflect) {
                throw new IllegalArgumentException("the poll hook replaces a hidden method, which hiddenApi NONE forbids");
            }
            if (settings.observerAccess != null && !settings.mayReflect) {
                throw new IllegalArgumentException("observerAccess is for hidden API, which hiddenApi NONE forbids");
            }
            if (settings.pollPeek != null && !settings.poll) {
                throw new IllegalArgumentException("pollPeek is for the poll hook");
            }
            if (settings.watchInput && !settings.isHooked()) {
                throw new IllegalArgumentException("watchInput makes messages of input, which hook NONE does without");
            }
            return new Config(settings.copy());
        }

        static long within(String name, long value, long least, long most) {
            if (value < least || value > most) {
                throw new IllegalArgumentException(name + " is " + value + ", must be " + least + " to " + most);
            }
            return value;
        }

        /**
         * Checks that there are 1 to 8 numbers within the bounds, each more than the one before it. Returns a
         * copy.
         */
        static long[] ascending(String name, long[] values, long least, long most) {
            within("number of " + name, values.length, 1, 8);
            for (int at = 0; at < values.length; at++) {
                within(name, values[at], at == 0 ? least : values[at - 1] + 1, most);
            }
            return values.clone();
        }

        static <T> T present(String name, T value) {
            if (value == null) {
                throw new IllegalArgumentException(name + " is null");
            }
            return value;
        }
    }
}
