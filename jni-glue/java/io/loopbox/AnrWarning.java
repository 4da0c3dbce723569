// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox;

/**
 * The system's warning that an ANR of this app may follow soon: {@code AnrWarningResult} of Android 17 and
 * newer.
 */
public final class AnrWarning {
    private final int id;
    private final int type;
    private final long consumedMs;
    private final long timeoutMs;

    AnrWarning(int id, int type, long consumedMs, long timeoutMs) {
        this.id = id;
        this.type = type;
        this.consumedMs = consumedMs;
        this.timeoutMs = timeoutMs;
    }

    /**
     * The number of the ANR, unique for its {@link #getType} until the device restarts. If the ANR comes and
     * ends the process, {@code ApplicationExitInfo.getAnrInfo()} has the same number.
     */
    public int getId() {
        return id;
    }

    /** One of {@code AnrTypes.ANR_TYPE_*}, or a newer one. */
    public int getType() {
        return type;
    }

    /** How much of {@link #getTimeoutMs} had passed when the warning was sent. */
    public long getConsumedMs() {
        return consumedMs;
    }

    /** How long the system waits before it calls the ANR. */
    public long getTimeoutMs() {
        return timeoutMs;
    }

    @Override
    public String toString() {
        return "ANR " + id + " of type " + type + ", " + consumedMs + " of " + timeoutMs + " ms";
    }
}
