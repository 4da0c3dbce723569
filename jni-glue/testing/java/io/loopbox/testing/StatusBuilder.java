// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import androidx.annotation.NonNull;
import io.loopbox.Status;
import io.loopbox.TestValues;

/**
 * Makes a {@link Status}: of a recorder that is on, unless {@link #off} is called. Works with loopbox and
 * with loopbox-noop.
 */
public final class StatusBuilder {
    private final StringBuilder parts = new StringBuilder();
    private String off;

    /** Adds a part: "hook", "sampler", "ring", "sigquit", or another name. */
    @NonNull
    public StatusBuilder part(@NonNull String name, boolean on, @NonNull String detail) {
        parts.append(Text.line(Text.given(name, "name"))).append(on ? "\t1\t" : "\t0\t");
        parts.append(Text.line(Text.given(detail, "detail"))).append('\n');
        return this;
    }

    /**
     * Makes it the status of a recorder that records nothing, for this reason. Such a status has no parts.
     */
    @NonNull
    public StatusBuilder off(@NonNull String reason) {
        off = Text.given(reason, "reason");
        return this;
    }

    @NonNull
    public Status build() {
        return off == null ? TestValues.statusOn(parts.toString()) : TestValues.statusOff(off);
    }
}
