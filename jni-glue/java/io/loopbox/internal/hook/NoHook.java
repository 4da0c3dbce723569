// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

/** The app wants none: nothing of the recorder runs in a message, and nothing reports one. */
final class NoHook extends Hook {
    @Override
    String describe() {
        return "none, as the app wants it";
    }

    @Override
    boolean records() {
        return false;
    }

    @Override
    void uninstall() {}

    @Override
    Object there() {
        return this;
    }

    @Override
    boolean isOurs(Object there) {
        return true;
    }

    @Override
    boolean armAgain() {
        return false;
    }
}
