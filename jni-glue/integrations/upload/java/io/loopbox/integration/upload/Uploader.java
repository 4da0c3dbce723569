// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.upload;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.util.List;

/**
 * Sends report files to your own server: one POST for each, whose body is the file. Blocks; call it on
 * your own thread, at the next launch, with the files of {@code Loopbox.takePendingReports()}.
 */
public final class Uploader {
    private final URL server;
    private final long mostBytes;

    /** @param mostBytes how many bytes one {@link #send} may send in all */
    public Uploader(URL server, long mostBytes) {
        this.server = server;
        this.mostBytes = mostBytes;
    }

    /**
     * Sends the files, newest first, and deletes those that the server took. It stops at the first failure:
     * the rest is sent at the next launch.
     *
     * @param files oldest first
     * @return how many the server took
     * @throws IOException when the server cannot be reached or answers with an error, or when a file cannot
     *     be deleted. The answers 400, 413, 415 and 422 are no failure: the server would refuse that file
     *     again, so the file is deleted
     */
    public int send(List<File> files) throws IOException {
        long left = mostBytes;
        int taken = 0;
        for (int at = files.size() - 1; at >= 0; at--) {
            File file = files.get(at);
            if (file.length() > left) {
                continue;
            }
            left -= file.length();
            int answer = new FilePost(server, "application/octet-stream")
                    .header("X-Report-Name", file.getName())
                    .send(file);
            if (FilePost.isTaken(answer)) {
                taken++;
            } else if (!FilePost.isRefused(answer)) {
                throw new IOException("the server answered " + answer);
            }
            if (!file.delete()) {
                throw new IOException("cannot delete " + file);
            }
        }
        return taken;
    }
}
