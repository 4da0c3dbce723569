package peers;

import android.content.Context;
import com.github.moduth.blockcanary.BlockCanaryContext;
import com.github.moduth.blockcanary.Core;
import com.github.moduth.blockcanary.internal.BlockInfo;

/** BlockCanary as a peer. */
final class Canary extends Peer {
    private static Core core;
    private static Canary newest;

    Canary() {
        super("blockcanary");
    }

    /** BlockCanary's default options, without a notification, and with a listener of the test. */
    private static final class Options extends BlockCanaryContext {
        @Override public boolean displayNotification() {
            return false;
        }

        @Override public String providePath() {
            return "/blockcanary/";
        }

        @Override public void onBlock(Context context, BlockInfo info) {
            String busy = info.cpuBusy ? "; cpu busy" : "";
            newest.reports("block of " + info.timeCost + " ms" + busy + "; " + info.threadStackEntries);
        }
    }

    @Override void start() {
        newest = this;
        if (core == null) {
            core = new Core(context, new Options());
        }
        core.start();
    }

    @Override void stop() {
        core.stop();
    }
}
