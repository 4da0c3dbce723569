package scenario;

import io.loopbox.MonitorUploader;
import io.loopbox.internal.platform.LocalTime;
import io.loopbox.internal.monitor.MonitorFiles;
import io.loopbox.internal.recording.MonitorSettings;
import io.loopbox.internal.monitor.MonitorUpload;
import io.loopbox.internal.monitor.StallLine;
import io.loopbox.internal.platform.Vitals;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.SimpleTimeZone;
import java.util.TimeZone;
import java.util.concurrent.CountDownLatch;
import java.util.zip.GZIPInputStream;

/**
 * The rules of the performance monitor as arithmetic, and what can happen to its files, in the folder {@code
 * dir=}. The test has put a file {@code full/uiperf-2026-11-22.jsonl} there that cannot be written to.
 */
public final class MonitorRules {
    private static final int PAUSE_MS = 5;

    private MonitorRules() {}

    /** Applies the rules one after the other, and prints the results. */
    public static void main(String[] arguments) throws Exception {
        File folder = new File(new Options(arguments).text("dir", "."));
        levels();
        calendar();
        lines();
        days(new File(folder, "days"));
        rotation(new File(folder, "rotation"));
        fullDisk(new File(folder, "full"));
        upload(new File(folder, "upload"));
        shared(new File(folder, "shared"));
        unknown(new File(folder, "status"));
        Script.say("done");
        Runtime.getRuntime().halt(0);
    }

    private static void levels() {
        MonitorSettings settings = new MonitorSettings();
        for (long us : new long[] {99_999, 100_000, 100_001, 100_100, 300_000, 300_100}) {
            Script.say("level " + us + " " + settings.level(us * 1_000));
        }
        settings.levelsMs = new long[] {50, 700, 5_000};
        Script.say("level own " + settings.level(700_001_000));
    }

    private static void calendar() {
        TimeZone utc = TimeZone.getTimeZone("UTC");
        // 2024-12-30: its week belongs to 2025.
        Script.say("day " + LocalTime.day(1_735_516_800_000L, utc));
        Script.say("day " + LocalTime.day(1_735_516_799_999L, utc));
        Script.say("day " + LocalTime.day(1_735_489_800_000L, new SimpleTimeZone(8 * 3_600_000, "east")));
        Script.say("day " + LocalTime.day(1_709_164_800_000L, utc));
        Script.say("day " + LocalTime.day(4_107_542_400_000L, utc));
        Script.say("day " + LocalTime.day(-1, utc));
        Script.say("stamp " + LocalTime.stamp(1_795_291_802_588L, utc));
        Script.say("stamp " + LocalTime.stamp(1_795_291_802_588L, new SimpleTimeZone(-7 * 1_800_000, "west")));
    }

    /**
     * Prints lines of stalls. One line has stacks of very many frames. The frames' names are long, in another
     * language, and have characters that must be escaped.
     */
    private static void lines() {
        StringBuilder text = new StringBuilder("S\t7\t5000000000\t731200000\t12000000\t206000000\t0\t0\ta.\u5361\u987fHandler\tb.C\t60");
        text.append("\t43\t83\t1535000000\t54\t183333337\tFeed\n");
        for (int stack = 0; stack < 5; stack++) {
            text.append("#\t").append(20 - stack).append("\t5050000000\t5700000000\n");
            for (int frame = 0; frame < 100; frame++) {
                text.append("com.example.\u8d2d\u7269.Cart\tload\"\\\u0001\tCart.java\t").append(frame + 1).append('\n');
            }
        }
        StallLine line = new StallLine(text.toString());
        String json = line.json(2, 1_795_291_802_588L, TimeZone.getTimeZone("UTC"), 42, "Feed", new ArrayList<Vitals>());
        Script.say("line " + json);
        line = new StallLine("S\t9\t5000000000\t100100000\t\t\t0\t\t\t\t0\t\t0\t0\t0\t0\t\n");
        json = line.json(1, 1_795_291_802_588L, TimeZone.getTimeZone("UTC"), 42, "", new ArrayList<Vitals>());
        Script.say("line " + json);
        String small = "S\t8\t5000000000\t100100000\t\t\t1\t\t\t\t0\n";
        line = new StallLine(small);
        json = line.json(1, 1_795_291_802_588L, TimeZone.getTimeZone("UTC"), 42, "", new ArrayList<Vitals>());
        Script.say("line " + json);
    }

    private static final class Base implements MonitorFiles.Base {
        @Override
        public String line(long lost) {
            return "{\"v\":1,\"pid\":42,\"lost\":" + lost + ",\"base\":{\"device\":\"\u8bbe\u5907\"}}";
        }
    }

    private static MonitorFiles files(File folder, int keepDays, long maxBytes) {
        MonitorSettings settings = new MonitorSettings();
        settings.keepDays = keepDays;
        settings.maxBytes = maxBytes;
        return new MonitorFiles(folder, settings);
    }

    private static String record(int number) {
        return "{\"v\":1,\"pid\":42,\"n\":" + number + ",\"level\":1,\"message\":\"\u4e3b\u7ebf\u7a0b\u5361\u987f\"}";
    }

    private static void say(String what, MonitorFiles files) {
        StringBuilder names = new StringBuilder(what);
        for (File file : files.list()) {
            names.append(' ').append(file.getName());
        }
        Script.say(names.toString());
    }

    private static void days(File folder) throws IOException {
        MonitorFiles files = files(folder, 7, 2 << 20);
        files.append("2024-12-30", record(1), new Base());
        files.append("2024-12-30", record(2), new Base());
        // A power loss: the end of the last line did not reach the disk.
        File day = new File(folder, "uiperf-2024-12-30.jsonl");
        RandomAccessFile torn = new RandomAccessFile(day, "rw");
        torn.setLength(torn.length() - 9);
        torn.close();
        files.append("2024-12-30", record(3), new Base());
        // Midnight, and the clock is set back across it.
        files.append("2024-12-31", record(4), new Base());
        files.append("2024-12-30", record(5), new Base());
        files.append("2024-12-31", record(6), new Base());
        say("days", files);
        File gone = new File(folder, "gone");
        files = files(gone, 7, 2 << 20);
        files.append("2026-11-22", record(1), new Base());
        if (!new File(gone, "uiperf-2026-11-22.jsonl").delete() || !gone.delete()) {
            throw new AssertionError("still there");
        }
        Script.say("gone " + files.append("2026-11-22", record(2), new Base()));
        // A name that is taken by a file.
        MonitorFiles nowhere = files(day, 7, 2 << 20);
        Script.say("nowhere " + nowhere.append("2026-11-22", record(3), new Base()) + " " + nowhere.list());
    }

    private static void rotation(File folder) throws IOException {
        MonitorFiles files = files(folder, 3, 2 << 20);
        for (String day : new String[] {"2026-10-31", "2026-11-01", "2026-11-02", "2026-11-03"}) {
            files.append(day, record(1), new Base());
        }
        say("kept", files);
        clock(new File(folder, "clock"));
        files = files(new File(folder, "bytes"), 100, 16 << 10);
        for (int day = 1; day <= 5; day++) {
            int written = 0;
            for (int number = 0; number < 60; number++) {
                written += files.append("2026-11-0" + day, record(number), new Base()) ? 1 : 0;
            }
            Script.say("written " + written);
        }
        say("left", files);
        int written = 0;
        for (int number = 0; number < 1_000; number++) {
            written += files.append("2026-11-06", record(number), new Base()) ? 1 : 0;
        }
        say("full " + (written < 400), files);
    }

    /** A phone whose clock is at 1970, or 2020, until it gets the time. */
    private static void clock(File folder) {
        MonitorFiles files = files(folder, 3, 2 << 20);
        for (String day : new String[] {"2026-10-31", "2026-11-01", "1970-01-01", "1970-01-02", "2020-01-01"}) {
            files.append(day, record(1), new Base());
        }
        say("unset", files);
        for (String day : new String[] {"1970-01-01", "2020-01-01"}) {
            File file = new File(folder, "uiperf-" + day + ".jsonl");
            if (!file.setLastModified(day.startsWith("1970") ? 5_000 : 1_577_836_800_000L)) {
                throw new AssertionError("no time");
            }
        }
        files.append("2026-11-03", record(2), new Base());
        say("set", files);
        // Each has the time at which it was seen, and is old some days after that.
        File first = new File(folder, "uiperf-1970-01-01.jsonl");
        long age = System.currentTimeMillis() - first.lastModified();
        Script.say("seen " + (age >= 0 && age < 3_600_000L));
        if (!first.setLastModified(first.lastModified() - 4 * 86_400_000L)) {
            throw new AssertionError("no time");
        }
        files.append("2026-11-04", record(3), new Base());
        say("later", files);
    }

    private static void fullDisk(File folder) {
        MonitorFiles files = files(folder, 7, 2 << 20);
        Script.say("full disk " + files.append("2026-11-22", record(1), new Base()) + " " + files.append("2026-11-22", record(2), new Base()));
        if (!new File(folder, "uiperf-2026-11-22.jsonl").delete()) {
            throw new AssertionError("still full");
        }
        Script.say("room " + files.append("2026-11-22", record(3), new Base()));
    }

    /** A server that first refuses, then throws, and then accepts everything. */
    private static final class Server implements MonitorUploader {
        private int calls;
        volatile CountDownLatch called = new CountDownLatch(1);

        @Override
        public boolean upload(File gzip, String day) throws IOException {
            calls++;
            String said = "upload " + gzip.getName() + " of " + day + ": " + lines(gzip) + " lines";
            Script.say(said + (calls == 1 ? ", no" : calls == 2 ? ", throws" : ", yes"));
            called.countDown();
            if (calls == 2) {
                throw new IOException("the network is gone");
            }
            return calls > 2;
        }

        private static int lines(File gzip) throws IOException {
            BufferedReader in = new BufferedReader(new InputStreamReader(new GZIPInputStream(new FileInputStream(gzip)), "UTF-8"));
            int lines = 0;
            while (in.readLine() != null) {
                lines++;
            }
            in.close();
            return lines;
        }
    }

    private static void upload(File folder) throws Exception {
        MonitorSettings settings = new MonitorSettings();
        Server server = new Server();
        settings.uploader = server;
        MonitorFiles files = new MonitorFiles(folder, settings);
        MonitorUpload upload = new MonitorUpload(files, settings);
        files.append("2026-11-21", record(1), new Base());
        files.append("2026-11-22", record(2), new Base());
        for (int call = 1; call <= 2; call++) {
            server.called = new CountDownLatch(1);
            upload.begin();
            server.called.await();
            // Written meanwhile: a separate file.
            files.append("2026-11-22", record(2 + call), new Base());
            say("waiting", files);
        }
        do {
            // The call may come in time for the round that is under way.
            upload.begin();
            Thread.sleep(PAUSE_MS);
        } while (!files.list().isEmpty());
        Script.say("sent");
    }

    /** A process of the app. */
    private static final class Sharer implements MonitorFiles.Base {
        private final String name;
        private final MonitorFiles files;
        private int lines;

        Sharer(String name, File folder) {
            this.name = name;
            files = files(folder, 7, 2 << 20);
        }

        @Override
        public String line(long lost) {
            return "{\"v\":1,\"t\":" + lines + ",\"process\":\"base of " + name + "\"}";
        }

        void append() {
            lines++;
            files.append("2026-11-22", "{\"v\":1,\"t\":" + lines + ",\"process\":\"" + name + "\"}", this);
        }
    }

    /** Two processes write into one folder by turns. After each turn one of them packs its files. */
    private static void shared(File folder) throws Exception {
        Sharer main = new Sharer("main", folder);
        Sharer push = new Sharer("push", folder);
        File day = new File(folder, "uiperf-2026-11-22.jsonl");
        for (Sharer[] order : new Sharer[][] {{main, push}, {push, main}, {main, push}, {push, main}}) {
            for (int round = 0; round < 2; round++) {
                order[0].append();
                order[1].append();
            }
            StringBuilder said = new StringBuilder("shared");
            BufferedReader in = new BufferedReader(new InputStreamReader(new FileInputStream(day), "UTF-8"));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                said.append(',').append(line.split("\"")[7]);
            }
            in.close();
            Script.say(said.toString());
            Method pack = MonitorFiles.class.getDeclaredMethod("pack");
            pack.setAccessible(true);
            pack.invoke(main.files);
        }
    }

    /**
     * Reads files of the kernel that are missing, lack a value, or have a text in the place of a number. The
     * test has written the file {@code status}.
     */
    private static void unknown(File status) throws Exception {
        String path = status.getPath();
        String none = Vitals.number("/no/such/file", "") + " " + Vitals.number(path, "");
        Script.say("numbers " + none + " " + Vitals.number(path, "Threads:") + " " + Vitals.number(path, "VmRSS:"));
        for (String line : new String[] {"cpu 1 2 3 40 50 6 7 8", "cpu 1 2 3 40 x 6 7 8"}) {
            Method machine = Vitals.class.getDeclaredMethod("machineTicks", String.class);
            machine.setAccessible(true);
            Script.say("ticks " + Arrays.toString((long[]) machine.invoke(null, line)));
        }
        for (String line : new String[] {"7 (a) b) S 1 2 3 4 5 6 7 8 9 10 11 12", "7 (a) S 1 2 3 4 5 6 7 8 9 10 x 12"}) {
            Method process = Vitals.class.getDeclaredMethod("processTicks", String.class);
            process.setAccessible(true);
            Script.say("ticks " + process.invoke(null, line));
        }
    }
}
