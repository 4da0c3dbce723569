package android.content.pm;

import android.os.Bundle;

/** Only the fields that are read: by the recorder, by LoadedApk and by ViewTreeObserver. */
public class ApplicationInfo {
    public String processName;
    /** The Application's class, or null for the system's own. */
    public String className;
    public int targetSdkVersion = 29;
    /** The meta-data of the application in the manifest, or null. */
    public Bundle metaData;
}
