package real;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.GZIPInputStream;
import org.robolectric.shadows.ShadowLooper;

/** A server to which an SDK posts. It answers each request with the same status. */
final class Server {
    private static final long LIMIT_NS = 60_000_000_000L;
    private static final int PAUSE_MS = 20;

    final List<String> bodies = new CopyOnWriteArrayList<>();
    private final HttpServer server;

    Server(final int status) throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        HttpHandler handler =
                new HttpHandler() {
                    @Override
                    public void handle(HttpExchange exchange) throws IOException {
                        byte[] body = exchange.getRequestBody().readAllBytes();
                        if ("gzip".equals(exchange.getRequestHeaders().getFirst("Content-Encoding"))) {
                            body = new GZIPInputStream(new ByteArrayInputStream(body)).readAllBytes();
                        }
                        bodies.add(new String(body, "UTF-8"));
                        exchange.sendResponseHeaders(status, -1);
                        exchange.close();
                    }
                };
        server.createContext("/", handler);
        server.start();
    }

    String url() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    /** Waits until this many bodies contain this text. */
    List<String> await(int wanted, String text) throws InterruptedException {
        long end = System.nanoTime() + LIMIT_NS;
        List<String> found = with(text);
        while (found.size() < wanted && System.nanoTime() < end) {
            ShadowLooper.idleMainLooper();
            Thread.sleep(PAUSE_MS);
            found = with(text);
        }
        return found;
    }

    List<String> with(String text) {
        List<String> found = new CopyOnWriteArrayList<>();
        for (String body : bodies) {
            if (body.contains(text)) {
                found.add(body);
            }
        }
        return found;
    }
}
