package peers;

import android.os.Handler;
import android.os.Looper;
import io.loopbox.Loopbox;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import scenario.Options;
import scenario.Script;

/**
 * A hang that the recorder and three watchers see, and another one when the recorder is gone. Arguments:
 * those of {@link Options}; {@code order=first} or {@code last}, the recorder's place among the watchers.
 * Main hangs until all have reported.
 */
public final class Watching {
    private static final int TIMEOUT_MS = 1_000;
    private static final int PAUSE_MS = 20;

    private final Handler main = new Handler(Looper.getMainLooper());
    private final Options options;
    /** The watchers that have not reported this hang yet. */
    private final Set<String> missing = ConcurrentHashMap.newKeySet();

    private Watching(Options options) {
        this.options = options;
    }

    public static void main(String[] arguments) throws Exception {
        Looper.prepareMainLooper();
        Watching watching = new Watching(new Options(arguments));
        watching.install();
        Looper.loop();
    }

    private void install() throws Exception {
        List<Peer> sdks = Arrays.asList(
                new Heartbeats.AnrWatchDogs(TIMEOUT_MS), new Heartbeats.Sentry(TIMEOUT_MS), new Datadog.Anr(TIMEOUT_MS));
        // As the system would say from the start: it has nothing to do with who watches.
        Peer.context.hangsAtOnce();
        Peer.onReport = missing::remove;
        boolean isFirst = options.is("order", "first");
        if (isFirst) {
            ours();
        }
        for (Peer sdk : sdks) {
            sdk.install();
        }
        if (!isFirst) {
            ours();
        }
        main.post(() -> {
            missing.add("loopbox");
            hang(sdks);
            Script.say("both");
            main.post(() -> {
                Loopbox.uninstall();
                // A message that is over: they take main for alive again.
                main.postDelayed(() -> {
                    hang(sdks);
                    Script.say("alone");
                    Runtime.getRuntime().halt(0);
                }, PAUSE_MS);
            });
        });
    }

    private void ours() {
        boolean isOn = Loopbox.install(options.config().listener(report -> {
            Peer.say("report", "loopbox " + report.getDigest());
            missing.remove("loopbox");
        }).build()).isOn();
        if (!isOn) {
            throw new AssertionError(Loopbox.status().toString());
        }
    }

    private void hang(List<Peer> sdks) {
        for (Peer sdk : sdks) {
            missing.add(sdk.name);
        }
        while (!missing.isEmpty()) {
            LockSupport.parkNanos(PAUSE_MS * 1_000_000L);
        }
    }
}
