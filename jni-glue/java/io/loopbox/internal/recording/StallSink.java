// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

/** Receives stalls, and passes them to the public listener. */
public interface StallSink {
    /** A message that still runs has run for {@code ageMs}. */
    void onBlock(long ageMs, String stack);

    /** A message has ended. It is in the file, unless writing failed. */
    void onStall(int level, double ms, long uptimeMs, long timeMs, String message, String scene, String stack, String json);
}
