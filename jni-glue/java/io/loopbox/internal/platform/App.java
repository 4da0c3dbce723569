// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.content.Context;
import android.content.pm.PackageInfo;
import android.content.pm.PackageManager;
import android.system.ErrnoException;
import android.system.Os;
import android.system.OsConstants;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * The parts of an app's Context that the recorder needs. A separate class, because processes without a
 * Context record too.
 */
public final class App {
    private static final String OFF = "off";

    /**
     * How much of a process's command line is read for its name: the kernel gives the first page in one read.
     */
    private static final int MOST_NAME_BYTES = 512;

    private static volatile String ownName;

    private App() {}

    /** A folder that only this app can read and that is excluded from backups. */
    public static File directory(Context context) {
        return new File(context.getNoBackupFilesDir(), "loopbox");
    }

    /**
     * The file that exists while the app has switched the recorder off. Its path does not depend on the
     * folder that the app has chosen for reports.
     */
    public static File killSwitch(Context context) {
        return new File(directory(context), OFF);
    }

    /**
     * Whether a file exists. A real kernel also reports the file's type. Robolectric, which runs unit tests,
     * reports success for every name, but no type.
     *
     * @throws ErrnoException when that is not known
     */
    public static boolean isThere(File file) throws ErrnoException {
        try {
            return (Os.lstat(file.getPath()).st_mode & OsConstants.S_IFMT) != 0 || file.exists();
        } catch (ErrnoException refused) {
            if (refused.errno == OsConstants.ENOENT) {
                return false;
            }
            throw refused;
        }
    }

    /**
     * Switches the recorder on or off for every later launch, and for this app's other processes, which check
     * the file (kill_switch.rs).
     */
    public static void setEnabled(Context context, boolean enabled) throws IOException {
        File directory = directory(context);
        File off = killSwitch(context);
        if (enabled) {
            if (off.exists() && !off.delete()) {
                throw new IOException("cannot delete " + off);
            }
        } else if (!directory.isDirectory() && !directory.mkdirs()) {
            throw new IOException("cannot create " + directory);
        } else if (!off.exists() && !off.createNewFile()) {
            throw new IOException("cannot create " + off);
        }
    }

    /** Version name and code, or an empty text. */
    public static String version(Context context) {
        try {
            PackageInfo info = context.getPackageManager().getPackageInfo(context.getPackageName(), 0);
            return info.versionName + " (" + info.versionCode + ")";
        } catch (PackageManager.NameNotFoundException absent) {
            return "";
        } catch (RuntimeException dead) {
            // The package manager is another process and may be gone.
            RecorderLog.info("no app version: " + dead);
            return "";
        }
    }

    /** A Context that lives as long as the process; an Activity or a Service does not. */
    public static Context lasting(Context context) {
        Context application = context.getApplicationContext();
        // None yet inside of attachBaseContext, where the context is the Application itself or stands behind
        // it.
        return application == null ? context : application;
    }

    /** The system's name for this process, or null. Read once: it does not change after the start. */
    public static String processName() {
        String name = ownName;
        if (name == null) {
            name = processName("self");
            ownName = name;
        }
        return name;
    }

    /** The system's name for another process, by its id; null when it cannot be read. */
    public static String processName(String pid) {
        try {
            FileInputStream in = new FileInputStream("/proc/" + pid + "/cmdline");
            try {
                // A reader would load what decodes characters, on the main thread of an app that starts.
                byte[] line = new byte[MOST_NAME_BYTES];
                int count = Math.max(0, in.read(line));
                int end = 0;
                while (end < count && line[end] != 0) {
                    end++;
                }
                return end == 0 ? null : new String(line, 0, end, StandardCharsets.UTF_8);
            } finally {
                in.close();
            }
        } catch (IOException unreadable) {
            return null;
        }
    }
}
