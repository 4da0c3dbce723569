// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

/** What {@link io.loopbox.FrameConfig} says, with its defaults: its Builder documents each, and checks it. */
public final class FrameSettings implements Cloneable {
    public boolean scroll = true;
    public boolean touch;
    public boolean stages;
    public boolean jankData;
    public boolean jankStacks = true;
    public long jankFrameMs = 34;
    public int scenes = 16;
    public int skippedFrames = 30;
    public FrameSink listener;

    /** As it is now, for good. */
    public FrameSettings copy() {
        try {
            return (FrameSettings) clone();
        } catch (CloneNotSupportedException never) {
            throw new IllegalStateException(never);
        }
    }
}
