package peers;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.function.IntConsumer;
import okhttp3.Call;
import okhttp3.Callback;
import okhttp3.ConnectionSpec;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.Response;
import okio.BufferedSource;

/**
 * OkHttp, and an HTTP server in this process that sends numbers, one a line. OkHttp uses this server as a
 * proxy. The host in the URL is an IPv6 address: any other host OkHttp would pass to ICU, which no testbed
 * has. The connection is not encrypted, because a testbed has no TLS.
 */
final class Downloads {
    private final ServerSocket server;
    private final OkHttpClient client;

    Downloads() throws IOException {
        server = new ServerSocket(0, 0, InetAddress.getByName("127.0.0.1"));
        Thread serving = new Thread(this::serve, "server");
        serving.setDaemon(true);
        serving.start();
        Proxy proxy = new Proxy(Proxy.Type.HTTP, new InetSocketAddress("127.0.0.1", server.getLocalPort()));
        client = new OkHttpClient.Builder().proxy(proxy)
                .connectionSpecs(Collections.singletonList(ConnectionSpec.CLEARTEXT)).build();
    }

    void stop() throws IOException {
        client.dispatcher().executorService().shutdown();
        client.connectionPool().evictAll();
        server.close();
    }

    private Call call(int count) {
        return client.newCall(new Request.Builder().url("http://[::1]/" + count).build());
    }

    /** Downloads numbers on a thread of OkHttp's, then calls {@code then} there. */
    void download(int count, IntConsumer each, Runnable then) {
        call(count).enqueue(new Callback() {
            @Override public void onFailure(Call call, IOException failed) {
                fail(failed);
            }

            @Override public void onResponse(Call call, Response response) {
                try {
                    read(response, each);
                    then.run();
                } catch (IOException failed) {
                    fail(failed);
                }
            }
        });
    }

    /** Downloads one number on this thread. */
    int first() {
        int[] first = {-1};
        try {
            read(call(1).execute(), number -> first[0] = number);
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        return first[0];
    }

    private static void read(Response response, IntConsumer each) throws IOException {
        try (BufferedSource body = response.body().source()) {
            for (String line = body.readUtf8Line(); line != null; line = body.readUtf8Line()) {
                each.accept(Integer.parseInt(line));
            }
        }
    }

    /** Ends the process: nothing that comes later would be right. */
    private static void fail(IOException failed) {
        failed.printStackTrace();
        Runtime.getRuntime().halt(1);
    }

    private void serve() {
        while (true) {
            try (Socket socket = server.accept()) {
                BufferedReader request = new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
                String path = request.readLine().split(" ")[1];
                while (!request.readLine().isEmpty()) {
                    // The headers.
                }
                StringBuilder answer = new StringBuilder("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
                int count = Integer.parseInt(path.substring(path.lastIndexOf('/') + 1));
                for (int number = 0; number < count; number++) {
                    answer.append(number).append('\n');
                }
                socket.getOutputStream().write(answer.toString().getBytes(StandardCharsets.UTF_8));
            } catch (IOException closed) {
                if (server.isClosed()) {
                    return;
                }
                fail(closed);
            }
        }
    }
}
