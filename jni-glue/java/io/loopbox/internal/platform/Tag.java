// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

/** Of everything that goes to the log. */
public final class Tag {
    public static final String LOOPBOX = "loopbox";

    private Tag() {}
}
