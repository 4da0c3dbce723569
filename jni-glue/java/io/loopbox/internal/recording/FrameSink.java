// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

/** The receiver of frames, with the values that the native side passes (monitor/display_frames.rs). */
public interface FrameSink {
    void onWindow(long[] values, String scene, int missed);

    void onGesture(long[] values);

    void onSkipped(int frames, String scene);
}
