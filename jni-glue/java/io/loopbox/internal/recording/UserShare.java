// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.recording;

import java.nio.charset.Charset;

/**
 * Decides which users are recorded, when an app wants only a share of its users. A number computed from the
 * user's id alone decides. So a user is in or out at each launch, in each process and by each version, and a
 * larger share contains a smaller one.
 */
final class UserShare {
    private static final Charset UTF_8 = Charset.forName("UTF-8");

    // FNV-1a of 64 bits, and the last step of MurmurHash3. Never another one: users would change places.
    private static final long FNV_BASIS = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;
    private static final long MIX_1 = 0xff51afd7ed558ccdL;
    private static final long MIX_2 = 0xc4ceb9fe1a85ec53L;

    /** The number of bits that a double represents exactly. */
    private static final int BITS = 53;

    private UserShare() {}

    /**
     * Whether a user is in a share. Without an id there is nothing constant to compute the number from, so
     * such a user is in no share below 1.
     */
    static boolean has(double share, String id) {
        return !id.isEmpty() && position(id) < share;
    }

    /** A number from 0 to less than 1; ids are distributed evenly. */
    private static double position(String id) {
        long hash = FNV_BASIS;
        for (byte each : id.getBytes(UTF_8)) {
            hash = (hash ^ each & 0xff) * FNV_PRIME;
        }
        hash = (hash ^ hash >>> 33) * MIX_1;
        hash = (hash ^ hash >>> 33) * MIX_2;
        hash ^= hash >>> 33;
        return (hash >>> 64 - BITS) / (double) (1L << BITS);
    }
}
