// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.hook;

/** For an app that wants no hook: no code of the recorder runs in a message, and no message is reported. */
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
