package com.github.moduth.blockcanary;

import android.content.Context;
import android.os.Looper;
import java.util.function.Consumer;

/**
 * What {@code BlockCanary.install} and {@code start} do, but for its Activity and notification, which no
 * testbed has.
 */
public final class Core {
    private final BlockCanaryInternals core;

    public Core(Context context, BlockCanaryContext options) {
        BlockCanaryContext.init(context, options);
        BlockCanaryInternals.setContext(options);
        core = BlockCanaryInternals.getInstance();
        core.addBlockInterceptor(options);
    }

    /**
     * At the end of each message, BlockCanary's Printer also passes the Looper's line to {@code listener}.
     */
    public void onEnd(Consumer<String> listener) {
        LooperMonitor real = core.monitor;
        core.monitor = new LooperMonitor((a, b, c, d) -> {}, 1, false) {
            @Override public void println(String line) {
                real.println(line);
                if (line.startsWith("<")) {
                    listener.accept(line);
                }
            }
        };
    }

    public void start() {
        Looper.getMainLooper().setMessageLogging(core.monitor);
    }

    public void stop() {
        Looper.getMainLooper().setMessageLogging(null);
        core.stackSampler.stop();
        core.cpuSampler.stop();
    }
}
