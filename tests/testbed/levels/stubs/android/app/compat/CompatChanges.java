package android.app.compat;

/** No change is enabled: apps of the tests target no level that has one. */
public final class CompatChanges {
    public static boolean isChangeEnabled(long id) { return false; }

    private CompatChanges() {}
}
