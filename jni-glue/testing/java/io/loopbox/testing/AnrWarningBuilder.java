// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.AnrWarning;
import io.loopbox.TestValues;

/**
 * Makes an {@link AnrWarning}. By default it is about a service (type 5), and 10 seconds of a time-out of 20
 * seconds have passed. Works with loopbox and with loopbox-noop.
 */
public final class AnrWarningBuilder {
    private int id = 1;
    private int type = 5;
    private long consumedMs = 10_000;
    private long timeoutMs = 20_000;

    @NonNull
    public AnrWarningBuilder id(int id) {
        this.id = id;
        return this;
    }

    /** Sets the type, one of {@code AnrTypes.ANR_TYPE_*}. */
    @NonNull
    public AnrWarningBuilder type(int type) {
        this.type = type;
        return this;
    }

    @NonNull
    public AnrWarningBuilder consumedMs(long consumedMs) {
        this.consumedMs = consumedMs;
        return this;
    }

    @NonNull
    public AnrWarningBuilder timeoutMs(long timeoutMs) {
        this.timeoutMs = timeoutMs;
        return this;
    }

    @NonNull
    public AnrWarning build() {
        return TestValues.anrWarning(id, type, consumedMs, timeoutMs);
    }
}
