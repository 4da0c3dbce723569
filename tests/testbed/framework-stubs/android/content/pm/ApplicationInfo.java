package android.content.pm;

/** Of the fields that are read: by the recorder, by LoadedApk and by ViewTreeObserver. */
public class ApplicationInfo {
    public String processName;
    /** The Application's class, or null for the system's own. */
    public String className;
    public int targetSdkVersion = 29;
}
