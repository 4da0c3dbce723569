package com.github.moduth.blockcanary;

import android.content.Context;
import android.os.Looper;
import java.util.concurrent.atomic.AtomicInteger;

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

    /** Has its Printer count the messages whose line contains this text, and do what it does. */
    public AtomicInteger count(final String part) {
        final AtomicInteger counted = new AtomicInteger();
        final LooperMonitor real = core.monitor;
        core.monitor = new LooperMonitor((a, b, c, d) -> {}, 1, false) {
            @Override public void println(String line) {
                real.println(line);
                if (line.startsWith("<") && line.contains(part)) {
                    counted.incrementAndGet();
                }
            }
        };
        return counted;
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
