// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import android.content.ContentProvider;
import android.content.ContentValues;
import android.content.Context;
import android.content.pm.ApplicationInfo;
import android.database.Cursor;
import android.database.MatrixCursor;
import android.net.Uri;
import android.os.ParcelFileDescriptor;
import android.provider.OpenableColumns;
import android.util.Log;
import androidx.annotation.NonNull;
import androidx.annotation.Nullable;
import io.loopbox.Loopbox;
import java.io.File;
import java.io.FileNotFoundException;
import java.util.List;

/**
 * Starts the screen with the app. Lets the app that the user has chosen read the report that is shared. The
 * system creates it; no other code calls it.
 */
public final class ReportProvider extends ContentProvider {
    static final String TAG = "loopbox";

    private static final String AUTHORITY = ".loopbox.screen";
    private static final String TYPE = "application/octet-stream";

    /** Called by the system, because of the manifest. */
    public ReportProvider() {}

    @Override
    public boolean onCreate() {
        try {
            Context context = getContext();
            if (context != null && isDebuggable(context)) {
                Loopbox.addListener(new HangListener(context));
            } else {
                Log.w(TAG, "loopbox-screen is for debug builds, and does nothing in this one");
            }
        } catch (Throwable fault) {
            // The app starts without it rather than not at all.
            Log.w(TAG, "no notifications of hangs", fault);
        }
        return true;
    }

    private static boolean isDebuggable(Context context) {
        return (context.getApplicationInfo().flags & ApplicationInfo.FLAG_DEBUGGABLE) != 0;
    }

    /** Where the copies of reports are. Not on the main thread: the first call may make the app's folder. */
    static Copies copies(Context context) {
        return new Copies(new File(context.getNoBackupFilesDir(), "loopbox-screen"));
    }

    static Uri uri(Context context, File copy) {
        String authority = context.getPackageName() + AUTHORITY;
        return new Uri.Builder().scheme("content").authority(authority).appendPath(copy.getName()).build();
    }

    /** Accepts only a name, so that no path can lead out of the folder. */
    private File find(Uri uri) {
        Context context = getContext();
        List<String> path = uri.getPathSegments();
        return context == null || path.size() != 1 ? null : copies(context).find(path.get(0));
    }

    @Nullable
    @Override
    public ParcelFileDescriptor openFile(@NonNull Uri uri, @NonNull String mode) throws FileNotFoundException {
        File file = find(uri);
        if (file == null) {
            throw new FileNotFoundException("no report: " + uri);
        }
        if (!mode.equals("r")) {
            throw new SecurityException("reports are to be read, not opened with mode " + mode);
        }
        return ParcelFileDescriptor.open(file, ParcelFileDescriptor.MODE_READ_ONLY);
    }

    /** Returns the name and size of the file: apps that receive a shared file query them. */
    @Nullable
    @Override
    public Cursor query(
            @NonNull Uri uri,
            @Nullable String[] projection,
            @Nullable String selection,
            @Nullable String[] arguments,
            @Nullable String order) {
        String[] columns = projection != null ? projection : new String[] {OpenableColumns.DISPLAY_NAME, OpenableColumns.SIZE};
        MatrixCursor cursor = new MatrixCursor(columns, 1);
        File file = find(uri);
        if (file != null) {
            Object[] row = new Object[columns.length];
            for (int at = 0; at < columns.length; at++) {
                if (OpenableColumns.DISPLAY_NAME.equals(columns[at])) {
                    row[at] = file.getName();
                } else if (OpenableColumns.SIZE.equals(columns[at])) {
                    row[at] = file.length();
                }
            }
            cursor.addRow(row);
        }
        return cursor;
    }

    @Nullable
    @Override
    public String getType(@NonNull Uri uri) {
        return find(uri) == null ? null : TYPE;
    }

    @Nullable
    @Override
    public Uri insert(@NonNull Uri uri, @Nullable ContentValues values) {
        throw new UnsupportedOperationException("reports are to be read");
    }

    @Override
    public int delete(@NonNull Uri uri, @Nullable String selection, @Nullable String[] arguments) {
        throw new UnsupportedOperationException("reports are to be read");
    }

    @Override
    public int update(
            @NonNull Uri uri, @Nullable ContentValues values, @Nullable String selection, @Nullable String[] arguments) {
        throw new UnsupportedOperationException("reports are to be read");
    }
}
