package android.content.pm;

import android.os.Bundle;

/** Of the fields that are read: by the recorder, by LoadedApk and by ViewTreeObserver. */
public class ApplicationInfo {
    public String processName;
    /** The Application's class, or null for the system's own. */
    public String className;
    public int targetSdkVersion = 29;
    /** What the manifest says next to it, or null. */
    public Bundle metaData;
}
