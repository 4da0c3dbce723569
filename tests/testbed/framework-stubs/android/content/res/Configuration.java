package android.content.res;

/** The configuration of a device of which nothing is known. */
public final class Configuration {
    public int orientation;
}
