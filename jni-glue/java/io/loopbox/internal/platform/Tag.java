// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** The tag of all log lines. */
public final class Tag {
    public static final String LOOPBOX = "loopbox";

    private Tag() {}
}
