// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.upload;

import io.loopbox.MonitorUploader;
import java.io.File;
import java.io.IOException;
import java.net.URL;

/**
 * Sends the files of the performance monitor to your own server: one POST for each, whose body is the
 * packed file.
 */
public final class MonitorPost implements MonitorUploader {
    private final URL server;

    public MonitorPost(URL server) {
        this.server = server;
    }

    /**
     * Sends the file. Also returns true for a file that the server calls bad or too large (400, 413, 415,
     * 422), because the server would refuse it again.
     */
    @Override
    public boolean upload(File gzip, String day) throws IOException {
        int answer = new FilePost(server, "application/x-ndjson")
                .header("Content-Encoding", "gzip")
                .header("X-Monitor-Day", day)
                .header("X-Monitor-File", gzip.getName())
                .send(gzip);
        return FilePost.isTaken(answer) || FilePost.isRefused(answer);
    }
}
