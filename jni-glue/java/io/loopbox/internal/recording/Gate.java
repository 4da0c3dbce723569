// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

/**
 * Ends the output of a recording on the Java side: open until the recording ends, like the native side's gate
 * (gate.rs). A thread enters before it writes a line, and leaves after that; no code of the app runs inside.
 * A call of a listener begins only while the gate is open, and may continue after the gate is closed.
 */
public final class Gate {
    private int inside;
    private boolean closed;

    public synchronized boolean enter() {
        if (!closed) {
            inside++;
        }
        return !closed;
    }

    public synchronized void leave() {
        inside--;
        notifyAll();
    }

    public synchronized boolean isClosed() {
        return closed;
    }

    /** Closes the gate without waiting. */
    synchronized void close() {
        closed = true;
    }

    /** Waits until no thread is inside any more, at most {@code mostMs}. */
    public synchronized void awaitLeft(long mostMs) {
        long endNs = System.nanoTime() + mostMs * 1_000_000;
        try {
            for (long leftMs = mostMs; inside > 0 && leftMs > 0; leftMs = (endNs - System.nanoTime()) / 1_000_000) {
                wait(leftMs);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
