package android.content.pm;

/** As much of a PackageManager as the recorder asks for. */
public abstract class PackageManager {
    /** As on a device. */
    public static class NameNotFoundException extends Exception {}

    public abstract PackageInfo getPackageInfo(String packageName, int flags) throws NameNotFoundException;
}
