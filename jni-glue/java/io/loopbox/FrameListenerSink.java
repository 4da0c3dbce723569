// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

import io.loopbox.internal.recording.FrameSink;

/** Passes the recorder's figures of frames on to a {@link FrameListener} of the app. */
final class FrameListenerSink implements FrameSink {
    private final FrameListener listener;

    FrameListenerSink(FrameListener listener) {
        this.listener = listener;
    }

    @Override
    public void onWindow(long[] values, String scene, int missed) {
        listener.onWindow(new FrameWindow(values, scene, missed));
    }

    @Override
    public void onGesture(long[] values) {
        listener.onGesture(new FrameGesture(values));
    }

    @Override
    public void onSkipped(int frames, String scene) {
        listener.onSkippedFrames(frames, scene);
    }
}
