// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.upload;

import io.loopbox.MonitorUploader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;

/** Sends the files of the performance monitor to a server of one's own: one POST for each, whose body is the packed file. */
public final class MonitorPost implements MonitorUploader {
    private static final int TIMEOUT_MS = 15_000;

    private final URL server;

    public MonitorPost(URL server) {
        this.server = server;
    }

    /** True also for a file that the server calls bad or too large (400, 413, 415, 422): it would be refused again. */
    @Override
    public boolean upload(File gzip, String day) throws IOException {
        int answer = post(gzip, day);
        return answer >= 200 && answer < 300 || answer == 400 || answer == 413 || answer == 415 || answer == 422;
    }

    private int post(File gzip, String day) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) server.openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setInstanceFollowRedirects(false);
        connection.setRequestProperty("Content-Type", "application/x-ndjson");
        connection.setRequestProperty("Content-Encoding", "gzip");
        connection.setRequestProperty("X-Monitor-Day", day);
        connection.setRequestProperty("X-Monitor-File", gzip.getName());
        connection.setFixedLengthStreamingMode((int) gzip.length());
        try {
            InputStream in = new FileInputStream(gzip);
            try {
                OutputStream out = connection.getOutputStream();
                byte[] part = new byte[16 << 10];
                for (int read = in.read(part); read >= 0; read = in.read(part)) {
                    out.write(part, 0, read);
                }
                out.close();
            } finally {
                in.close();
            }
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }
}
