package android.os;

import java.io.File;

/** The methods that BlockCanary calls. The phone has no external storage. */
public final class Environment {
    private Environment() {}

    public static String getExternalStorageState() {
        return "removed";
    }

    public static File getExternalStorageDirectory() {
        return new File(System.getProperty("java.io.tmpdir"));
    }

    public static File getDataDirectory() {
        return new File(System.getProperty("java.io.tmpdir"));
    }
}
