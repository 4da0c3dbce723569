// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;

/**
 * The payload of a section of a report: numbers of one to nine bytes, texts with their length
 * (docs/file-format.md).
 */
final class Payload {
    static final Charset UTF_8 = Charset.forName("UTF-8");

    private static final int TWO_BYTES = 251;
    private static final int FOUR_BYTES = 252;
    private static final int EIGHT_BYTES = 253;

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    /** Writes a number that is not negative. */
    Payload number(long value) {
        if (value < TWO_BYTES) {
            return raw(value, 1);
        } else if (value <= 0xffff) {
            return raw(TWO_BYTES, 1).raw(value, 2);
        } else if (value <= 0xffffffffL) {
            return raw(FOUR_BYTES, 1).raw(value, 4);
        }
        return raw(EIGHT_BYTES, 1).raw(value, 8);
    }

    /** Writes a number that may be negative. */
    Payload signed(long value) {
        return number(value << 1 ^ value >> 63);
    }

    Payload text(String text) {
        byte[] utf8 = text.getBytes(UTF_8);
        number(utf8.length);
        bytes.write(utf8, 0, utf8.length);
        return this;
    }

    /** Writes one byte: true or false, or whether a value follows. */
    Payload flag(boolean is) {
        return raw(is ? 1 : 0, 1);
    }

    private Payload raw(long value, int length) {
        for (int at = 0; at < length; at++) {
            bytes.write((int) (value >>> 8 * at));
        }
        return this;
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }
}
