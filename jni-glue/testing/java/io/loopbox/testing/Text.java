// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

/** Texts in the recorder's form. */
final class Text {
    private Text() {}

    /** The text on one line, without the characters that separate a line's fields. */
    static String line(String text) {
        StringBuilder line = new StringBuilder(text.length());
        for (int at = 0; at < text.length(); at++) {
            char c = text.charAt(at);
            line.append(c < ' ' ? ' ' : c);
        }
        return line.toString();
    }

    static <T> T given(T value, String what) {
        if (value == null) {
            throw new IllegalArgumentException(what + " is null");
        }
        return value;
    }
}
