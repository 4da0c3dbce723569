// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

/**
 * The settings of {@link io.loopbox.FrameConfig}, with their defaults; its Builder documents and checks each.
 */
public final class FrameSettings implements Cloneable {
    // Made from jni-glue/options.toml: fields
    public boolean scroll = true;
    public boolean touch;
    public boolean stages;
    public boolean jankData;
    public boolean jankStacks = true;
    public long jankFrameMs = 34;
    public int skippedFrames = 30;
    public int scenes = 16;
    public FrameSink listener;
    // End of what is made from jni-glue/options.toml

    /** A copy, which later changes of this object do not affect. */
    public FrameSettings copy() {
        try {
            return (FrameSettings) clone();
        } catch (CloneNotSupportedException never) {
            throw new IllegalStateException(never);
        }
    }
}
