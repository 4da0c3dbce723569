package scenario;

import android.os.SystemClock;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileReader;
import java.io.IOException;

/** The threads of this process, as the kernel sees them. */
final class Tasks {
    private Tasks() {}

    /** Waits until there is a thread with this name. Returns the thread's folder. */
    static File named(String name) throws IOException {
        for (int check = 0; check < 1_000; check++) {
            File found = find(name);
            if (found != null) {
                return found;
            }
            SystemClock.sleep(10);
        }
        throw new AssertionError("no thread is called " + name);
    }

    private static File find(String name) throws IOException {
        for (File task : new File("/proc/self/task").listFiles()) {
            try (BufferedReader reader = new BufferedReader(new FileReader(new File(task, "comm")))) {
                if (name.equals(reader.readLine())) {
                    return task;
                }
            } catch (java.io.FileNotFoundException ended) {
                continue;
            }
        }
        return null;
    }

    /** How many threads have a name with this prefix. */
    static int count(String prefix) throws IOException {
        int count = 0;
        for (File task : new File("/proc/self/task").listFiles()) {
            try (BufferedReader reader = new BufferedReader(new FileReader(new File(task, "comm")))) {
                String name = reader.readLine();
                count += name != null && name.startsWith(prefix) ? 1 : 0;
            } catch (IOException ended) {
                continue;
            }
        }
        return count;
    }

    /** The number of voluntary context switches of the thread with this name. */
    static long wakeUps(String name) throws IOException {
        try (BufferedReader reader = new BufferedReader(new FileReader(new File(named(name), "status")))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.startsWith("voluntary_ctxt_switches:")) {
                    return Long.parseLong(line.substring(line.indexOf(':') + 1).trim());
                }
            }
        }
        throw new AssertionError("the kernel counts no switches");
    }
}
