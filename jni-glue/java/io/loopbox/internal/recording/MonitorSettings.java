// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import io.loopbox.MonitorListener;
import io.loopbox.MonitorUploader;
import java.io.File;

/** The settings of MonitorConfig, with their defaults; its Builder documents and checks each. */
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

    /** A copy, which later changes of this object do not affect. */
    public MonitorSettings copy() {
        try {
            return (MonitorSettings) clone();
        } catch (CloneNotSupportedException never) {
            throw new IllegalStateException(never);
        }
    }

    /** The level of a message that took this long: how many of {@link #levelsMs} it exceeds. */
    public int level(long wallNs) {
        int level = 0;
        while (level < levelsMs.length && wallNs > levelsMs[level] * 1_000_000L) {
            level++;
        }
        return level;
    }
}
