// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import java.io.File;

/**
 * How old files are by a clock that may be wrong: on a phone whose battery was empty the clock is at 1970, or
 * at the day the system was built, until a network sets it. A file of unknown age does not count as old; the
 * native half has the same rule (file_age.rs).
 */
public final class FileAge {
    public static final long DAY_MS = 24L * 3_600_000;

    /** 2026-01-01: no file of ours is older than the recorder. */
    public static final long EARLIEST_MS = 1_767_225_600_000L;

    private FileAge() {}

    /**
     * Whether a file is known to be older than {@code ageMs}. A file with an impossible time gets the present
     * time, unless the clock itself must be wrong; its age counts from then on.
     */
    public static boolean isOlder(File file, long ageMs, long nowMs) {
        if (nowMs < EARLIEST_MS) {
            return false;
        }
        long at = file.lastModified();
        if (!canBe(at, nowMs)) {
            // A file that cannot be changed keeps its time, and goes on to be taken for new.
            file.setLastModified(nowMs);
            return false;
        }
        return nowMs - at > ageMs;
    }

    /**
     * Orders files by their times, the newest last. Files that were written with a wrong clock come after all
     * others.
     */
    public static int compare(File a, File b, long nowMs) {
        long first = a.lastModified();
        long second = b.lastModified();
        boolean isFirst = canBe(first, nowMs);
        if (isFirst != canBe(second, nowMs)) {
            return isFirst ? -1 : 1;
        }
        return Long.valueOf(first).compareTo(second);
    }

    /** Whether a file of ours can have that time. */
    public static boolean canBe(long atMs, long nowMs) {
        return atMs >= EARLIEST_MS && (nowMs < EARLIEST_MS || atMs <= nowMs + DAY_MS);
    }
}
