package peers;

import android.os.Looper;
import android.util.Printer;
import bench.HookBench;
import dalvik.system.VMDebug;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a peer costs each message, as {@link HookBench} measures. Arguments: the number of messages in a
 * batch, the number of rounds, the peers.
 */
public final class Cost {
    private Cost() {}

    /** The variant without any watcher. */
    private static final class None implements HookBench.Variant {
        @Override public boolean install() {
            return true;
        }

        @Override public void uninstall() {}
    }

    /** An empty Printer: only the cost of the strings that Looper makes for any Printer. */
    private static final class Empty implements HookBench.Variant, Printer {
        @Override public boolean install() {
            Looper.getMainLooper().setMessageLogging(this);
            return true;
        }

        @Override public void uninstall() {
            Looper.getMainLooper().setMessageLogging(null);
        }

        @Override public void println(String line) {}
    }

    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        VMDebug.startAllocCounting();
        Map<String, HookBench.Variant> ways = new LinkedHashMap<>();
        ways.put("none", new None());
        ways.put("empty", new Empty());
        for (String name : Arrays.asList(arguments).subList(2, arguments.length)) {
            ways.put(name, Peer.of(name));
        }
        HookBench.run(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), ways);
        Runtime.getRuntime().halt(0);
    }
}
