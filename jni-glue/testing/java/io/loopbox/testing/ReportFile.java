// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.testing;

import java.io.ByteArrayOutputStream;
import java.util.zip.CRC32;

/** The file around the sections of a report (docs/file-format.md). */
final class ReportFile {
    private static final byte[] PROLOGUE = {(byte) 0x89, 'L', 'B', 'X', '\r', '\n', 0x1a, '\n', 1, 0, 0, 0, 0, 0, 0, 0};

    private final ByteArrayOutputStream file = new ByteArrayOutputStream();
    private int sections;

    ReportFile() {
        file.write(PROLOGUE, 0, PROLOGUE.length);
    }

    /**
     * Adds a section.
     *
     * @param tag four letters, or three, which are filled up with a zero byte
     */
    ReportFile section(String tag, byte[] payload) {
        ByteArrayOutputStream header = new ByteArrayOutputStream();
        for (int at = 0; at < 4; at++) {
            header.write(at < tag.length() ? tag.charAt(at) : 0);
        }
        little(header, payload.length);
        little(header, sum(payload));
        little(header, sum(header.toByteArray()));
        file.write(header.toByteArray(), 0, header.size());
        file.write(payload, 0, payload.length);
        sections++;
        return this;
    }

    byte[] end() {
        ByteArrayOutputStream count = new ByteArrayOutputStream();
        little(count, sections);
        return section("END", count.toByteArray()).file.toByteArray();
    }

    private static int sum(byte[] bytes) {
        CRC32 sum = new CRC32();
        sum.update(bytes);
        return (int) sum.getValue();
    }

    private static void little(ByteArrayOutputStream to, int value) {
        for (int shift = 0; shift < 32; shift += 8) {
            to.write(value >>> shift);
        }
    }
}
