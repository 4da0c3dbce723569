// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.integration.upload;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URL;

/** One POST whose body is a file. */
final class FilePost {
    private static final int TIMEOUT_MS = 15_000;

    private final HttpURLConnection connection;

    FilePost(URL server, String contentType) throws IOException {
        connection = (HttpURLConnection) server.openConnection();
        connection.setConnectTimeout(TIMEOUT_MS);
        connection.setReadTimeout(TIMEOUT_MS);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
        connection.setInstanceFollowRedirects(false);
        header("Content-Type", contentType);
    }

    FilePost header(String name, String value) {
        connection.setRequestProperty(name, value);
        return this;
    }

    /** Sends the file and returns the server's answer. Can be called only once. */
    int send(File file) throws IOException {
        connection.setFixedLengthStreamingMode((int) file.length());
        try {
            InputStream in = new FileInputStream(file);
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

    /** Whether the server accepted the file. */
    static boolean isTaken(int answer) {
        return answer >= 200 && answer < 300;
    }

    /** Whether the server called the file bad or too large, and would therefore refuse it again. */
    static boolean isRefused(int answer) {
        return answer == 400 || answer == 413 || answer == 415 || answer == 422;
    }
}
