// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import java.io.UnsupportedEncodingException;

/** One object of JSON on one line. */
public final class JsonLine {
    private static final String HEX = "0123456789abcdef";

    private final StringBuilder text = new StringBuilder("{");

    /** Begins a member; its value follows. */
    public JsonLine name(String name) {
        comma();
        quote(name);
        text.append(':');
        return this;
    }

    public JsonLine text(String name, String value) {
        name(name);
        if (value == null) {
            text.append("null");
        } else {
            quote(value);
        }
        return this;
    }

    public JsonLine number(String name, long value) {
        name(name);
        text.append(value);
        return this;
    }

    /** Adds a number with one decimal; null for an unknown one. */
    public JsonLine tenths(String name, Double value) {
        name(name);
        if (value == null) {
            text.append("null");
        } else {
            long tenths = Math.round(value * 10);
            text.append(tenths < 0 ? "-" : "").append(Math.abs(tenths) / 10).append('.').append(Math.abs(tenths) % 10);
        }
        return this;
    }

    public JsonLine is(String name, boolean value) {
        name(name);
        text.append(value);
        return this;
    }

    /** Begins an object or a list inside of this object. */
    public JsonLine open(char bracket) {
        comma();
        text.append(bracket);
        return this;
    }

    public JsonLine close(char bracket) {
        text.append(bracket);
        return this;
    }

    public JsonLine element(String value) {
        comma();
        quote(value);
        return this;
    }

    public JsonLine element(long value) {
        comma();
        text.append(value);
        return this;
    }

    private void comma() {
        char last = text.charAt(text.length() - 1);
        if (last != '{' && last != '[' && last != ':') {
            text.append(',');
        }
    }

    /** Writes a text in quotes. Escapes what a JSON line must not contain, and unpaired surrogates. */
    private void quote(String value) {
        text.append('"');
        for (int at = 0; at < value.length(); at++) {
            char c = value.charAt(at);
            boolean pair =
                    Character.isHighSurrogate(c) && at + 1 < value.length() && Character.isLowSurrogate(value.charAt(at + 1));
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (pair) {
                text.append(c).append(value.charAt(++at));
            } else if (c < ' ' || Character.isSurrogate(c) || c == '\u2028' || c == '\u2029') {
                text.append("\\u");
                for (int shift = 12; shift >= 0; shift -= 4) {
                    text.append(HEX.charAt(c >> shift & 15));
                }
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    public String end() {
        return text.append('}').toString();
    }

    public static byte[] bytes(String line) {
        try {
            return line.getBytes("UTF-8");
        } catch (UnsupportedEncodingException never) {
            throw new IllegalStateException(never);
        }
    }
}
