package android.content.pm;

/** A ContentProvider of the app. */
public final class ProviderInfo {
    /** The class of the ContentProvider. */
    public String name;
    public String authority;
}
