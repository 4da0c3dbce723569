package android.database.sqlite;

/** A database with one connection, with the names of API 29. There is no SQLite behind it. */
public final class SQLiteDatabase {
    private final SQLiteConnectionPool pool = new SQLiteConnectionPool();

    /** Gives this thread the connection until the transaction ends. Here it never ends. */
    public void beginTransaction() {
        pool.acquireConnection();
    }

    public void rawQuery(String sql) {
        SQLiteConnection connection = pool.acquireConnection();
        try {
            connection.executeForCursorWindow(sql);
        } finally {
            pool.releaseConnection(connection);
        }
    }
}
