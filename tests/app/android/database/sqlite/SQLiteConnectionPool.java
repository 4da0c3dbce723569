package android.database.sqlite;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** While another thread has the connection, a thread that wants it parks and checks again, as in API 29. */
final class SQLiteConnectionPool {
    private static final long CHECK_AGAIN_NS = 30_000_000_000L;

    private final AtomicReference<SQLiteConnection> free =
            new AtomicReference<SQLiteConnection>(new SQLiteConnection());

    SQLiteConnection acquireConnection() {
        return waitForConnection();
    }

    private SQLiteConnection waitForConnection() {
        while (true) {
            SQLiteConnection connection = free.getAndSet(null);
            if (connection != null) {
                return connection;
            }
            LockSupport.parkNanos(this, CHECK_AGAIN_NS);
        }
    }

    void releaseConnection(SQLiteConnection connection) {
        free.set(connection);
    }
}
