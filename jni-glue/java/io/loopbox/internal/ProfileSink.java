// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

/** Who is given the profiles that the system has taken. On a thread of the system's choice. */
public interface ProfileSink {
    /** A profile of an ANR of this app is in that file: of this process, of another one, or of one that is gone. */
    void onProfile(String path);
}
