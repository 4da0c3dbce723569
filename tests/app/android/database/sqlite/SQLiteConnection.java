package android.database.sqlite;

/**
 * A connection that executes in native code. Here that code sleeps again and again, as SQLite does while
 * another process has locked the file.
 */
final class SQLiteConnection {
    void executeForCursorWindow(String sql) {
        nativeExecuteForCursorWindow(sql);
    }

    private static native void nativeExecuteForCursorWindow(String sql);
}
