package scenario;

import android.app.ActivityManager;
import android.app.Application;
import android.app.ApplicationExitInfo;
import android.app.ApplicationStartInfo;
import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;
import android.content.IntentFilter;
import android.content.pm.ApplicationInfo;
import android.content.pm.PackageManager;
import android.os.Process;
import android.os.ProfilingManager;
import android.os.ProfilingResult;
import android.os.SystemClock;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Simulates the system: what it reports about this process and earlier ones.
 *
 * <p>Arguments:
 *
 * <ul>
 *   <li>{@code says=WORDS} and {@code saysAfterMs=N}: N ms after the start, the system reports that this
 *   process does not respond;
 *   <li>{@code isolated=yes}: the process may not register receivers;
 *   <li>{@code exits=PID|PROCESS|TIME|REASON|STATUS|WORDS,...}: how processes ended, newest first;
 *   <li>{@code trace=TEXT}: the trace that the system keeps of each ended process;
 *   <li>{@code traceCut=N}: the stream of a trace breaks off after N bytes;
 *   <li>{@code traceThrows=yes}: the request for the stream of a trace throws;
 *   <li>{@code summary=HEX}: the state that the app has stored with the system;
 *   <li>{@code started=TYPE|REASON}: how this process was started; the system lists another process's start
 *   before it;
 *   <li>{@code started=dead}: the system does not answer how this process was started;
 *   <li>{@code profiled=TYPE|ERROR|PATH,...}: profiles that were taken before the process started;
 *   <li>{@code profiled=dead}: the system does not answer about profiles.
 * </ul>
 */
public class Phone extends Application {
    private final Options options;
    private ProfilingManager profiling;
    private final Map<BroadcastReceiver, String> receivers = new HashMap<BroadcastReceiver, String>();
    private final long startedMs = SystemClock.uptimeMillis();

    public Phone(Options options) {
        this.options = options;
    }

    @Override
    public Context getApplicationContext() {
        return this;
    }

    @Override
    public ApplicationInfo getApplicationInfo() {
        return new ApplicationInfo();
    }

    @Override
    public String getPackageName() {
        return "com.example.shop";
    }

    @Override
    public PackageManager getPackageManager() {
        throw new IllegalStateException("the package manager is gone");
    }

    @Override
    public File getNoBackupFilesDir() {
        return new File(options.text("dir", "."));
    }

    @Override
    public Object getSystemService(String name) {
        if (name.equals("profiling")) {
            if (options.is("profiled", "dead")) {
                throw new IllegalStateException("the system restarts");
            }
            return profiling();
        }
        return ACTIVITY_SERVICE.equals(name) ? new Activities() : null;
    }

    @Override
    public Intent registerReceiver(BroadcastReceiver receiver, IntentFilter filter) {
        if (options.is("isolated", "yes")) {
            throw new SecurityException("an isolated process may not register receivers");
        }
        receivers.put(receiver, filter.getAction(0));
        return null;
    }

    @Override
    public void unregisterReceiver(BroadcastReceiver receiver) {
        if (receivers.remove(receiver) == null) {
            throw new IllegalArgumentException("Receiver not registered");
        }
    }

    /** The system sends a broadcast. On the main thread. */
    void broadcast(String action) {
        for (Map.Entry<BroadcastReceiver, String> each : new ArrayList<Map.Entry<BroadcastReceiver, String>>(receivers.entrySet())) {
            if (each.getValue().equals(action)) {
                each.getKey().onReceive(this, new Intent(action));
            }
        }
    }

    /**
     * The profiling manager. It is created at the first request and not earlier, because a subclass for
     * another API level creates a manager in another way.
     */
    private synchronized ProfilingManager profiling() {
        if (profiling != null) {
            return profiling;
        }
        List<ProfilingResult> results = new ArrayList<ProfilingResult>();
        for (String result : options.text("profiled", "").split(",")) {
            if (result.contains("|")) {
                results.add(result(result));
            }
        }
        profiling = new ProfilingManager(results);
        return profiling;
    }

    private static ProfilingResult result(String text) {
        String[] parts = text.split("\\|");
        return new ProfilingResult(Integer.parseInt(parts[0]), Integer.parseInt(parts[1]), parts[2]);
    }

    /** The system has taken a profile: {@code TYPE|ERROR|PATH}. */
    void profiled(String text) {
        profiling().deliver(result(text));
    }

    private final class Activities extends ActivityManager {
        @Override
        public List<ProcessErrorStateInfo> getProcessesInErrorState() {
            List<ProcessErrorStateInfo> states = new ArrayList<ProcessErrorStateInfo>();
            // Somebody else's does not respond all the time.
            states.add(state(Process.myPid() + 1, "not this one"));
            String says = options.text("says", "");
            if (!says.isEmpty() && SystemClock.uptimeMillis() - startedMs >= options.number("saysAfterMs", 0)) {
                states.add(state(Process.myPid(), says));
            }
            return states;
        }

        private ProcessErrorStateInfo state(int pid, String words) {
            ProcessErrorStateInfo state = new ProcessErrorStateInfo();
            state.condition = ProcessErrorStateInfo.NOT_RESPONDING;
            state.pid = pid;
            state.shortMsg = words;
            return state;
        }

        @Override
        public List<ApplicationStartInfo> getHistoricalProcessStartReasons(int max) {
            List<ApplicationStartInfo> starts = super.getHistoricalProcessStartReasons(max);
            String started = options.text("started", "");
            if (started.equals("dead")) {
                throw new IllegalStateException("the system restarts");
            } else if (!started.isEmpty()) {
                String[] numbers = started.split("\\|");
                starts.add(new ApplicationStartInfo(Process.myPid() + 1, 2, 5));
                starts.add(new ApplicationStartInfo(Process.myPid(), Integer.parseInt(numbers[0]), Integer.parseInt(numbers[1])));
            }
            return starts;
        }

        @Override
        public List<ApplicationExitInfo> getHistoricalProcessExitReasons(String packageName, int pid, int max) {
            List<ApplicationExitInfo> exits = new ArrayList<ApplicationExitInfo>();
            for (String exit : options.text("exits", "").split(",")) {
                if (!exit.isEmpty()) {
                    exits.add(new End(exit.split("\\|"), options));
                }
            }
            return exits;
        }
    }

    /** A stream that breaks off. */
    private static final class Cut extends InputStream {
        private final byte[] text;
        private final int cut;
        private int at;

        Cut(byte[] text, int cut) {
            this.text = text;
            this.cut = cut;
        }

        @Override
        public int read() throws IOException {
            if (at == cut) {
                throw new EOFException("Unexpected end of ZLIB input stream");
            }
            return text[at++] & 0xff;
        }
    }

    /** A process that ended. */
    private static final class End extends ApplicationExitInfo {
        private final String[] parts;
        private final String trace;
        private final int cut;
        private final boolean fails;
        private final String summary;

        End(String[] parts, Options options) {
            this.parts = parts;
            trace = options.text("trace", "");
            cut = Integer.parseInt(options.text("traceCut", "-1"));
            fails = options.text("traceThrows", "").equals("yes");
            summary = options.text("summary", "");
        }

        @Override
        public byte[] getProcessStateSummary() {
            byte[] state = new byte[summary.length() / 2];
            for (int at = 0; at < state.length; at++) {
                state[at] = (byte) Integer.parseInt(summary.substring(2 * at, 2 * at + 2), 16);
            }
            return summary.isEmpty() ? null : state;
        }

        @Override
        public InputStream getTraceInputStream() {
            if (fails) {
                throw new SecurityException("no trace for you");
            }
            byte[] text = trace.getBytes(Charset.forName("UTF-8"));
            if (cut >= 0) {
                return new Cut(text, cut);
            }
            return trace.isEmpty() ? null : new ByteArrayInputStream(text);
        }

        @Override
        public int getPid() {
            return Integer.parseInt(parts[0]);
        }

        @Override
        public String getProcessName() {
            return parts[1];
        }

        @Override
        public long getTimestamp() {
            return Long.parseLong(parts[2]);
        }

        @Override
        public int getReason() {
            return Integer.parseInt(parts[3]);
        }

        @Override
        public int getStatus() {
            return Integer.parseInt(parts[4]);
        }

        @Override
        public String getDescription() {
            return parts[5];
        }
    }
}
