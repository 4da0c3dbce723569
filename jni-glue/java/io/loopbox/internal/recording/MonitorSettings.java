// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import io.loopbox.MonitorListener;
import io.loopbox.MonitorUploader;
import java.io.File;

/** What MonitorConfig says, with its defaults: its Builder documents each, and checks it. */
public final class MonitorSettings implements Cloneable {
    // Made from jni-glue/options.toml: fields
    public long[] levelsMs = {100, 300};
    public long blockMs = 200;
    public long sampleMs = 500;
    public File directory;
    public boolean files = true;
    public int keepDays = 7;
    public long maxBytes = 2_097_152;
    public boolean log = true;
    public MonitorListener listener;
    public MonitorUploader uploader;
    public long uploadRetryMs = 60_000;
    // End of what is made from jni-glue/options.toml

    /** As it is now, for good. */
    public MonitorSettings copy() {
        try {
            return (MonitorSettings) clone();
        } catch (CloneNotSupportedException never) {
            throw new IllegalStateException(never);
        }
    }

    /** How many of the limits this is longer than. */
    public int level(long wallNs) {
        int level = 0;
        while (level < levelsMs.length && wallNs > levelsMs[level] * 1_000_000L) {
            level++;
        }
        return level;
    }
}
