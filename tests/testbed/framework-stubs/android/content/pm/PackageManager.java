package android.content.pm;

/** As much of a PackageManager as the recorder asks for. */
public abstract class PackageManager {
    public static final int GET_META_DATA = 0x80;

    /** The platform's type, as far as a testbed needs it. */
    public static class NameNotFoundException extends Exception {}

    public abstract PackageInfo getPackageInfo(String packageName, int flags) throws NameNotFoundException;

    public ApplicationInfo getApplicationInfo(String packageName, int flags) throws NameNotFoundException {
        throw new NameNotFoundException();
    }
}
