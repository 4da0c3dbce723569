package android.content.pm;

/** A ContentProvider of the app. */
public final class ProviderInfo {
    /** Its class. */
    public String name;
    public String authority;
}
