package android.content.res;

/** The configuration of a device that has said nothing of it. */
public final class Configuration {
    public int orientation;
}
