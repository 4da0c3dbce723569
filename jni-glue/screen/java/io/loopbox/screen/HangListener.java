// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import android.app.Notification;
import android.app.NotificationChannel;
import android.app.NotificationManager;
import android.app.PendingIntent;
import android.content.Context;
import android.content.Intent;
import android.os.Build;
import android.util.Log;
import io.loopbox.Listener;
import io.loopbox.Report;
import java.io.File;
import java.io.IOException;

/**
 * Keeps a copy of each report, and one notification of the newest hang. On the recorder's thread for
 * listeners.
 */
final class HangListener implements Listener {
    private static final String CHANNEL = "io.loopbox.screen";
    private static final int ID = 1;

    // Build.VERSION_CODES, which older SDKs do not have.
    private static final int ANDROID_7 = 24;
    private static final int ANDROID_8 = 26;

    private final Context context;

    HangListener(Context context) {
        this.context = context;
    }

    @Override
    public void onReport(Report report) {
        File copy;
        try {
            copy = ReportProvider.copies(context).keep(report.getFile());
        } catch (IOException full) {
            Log.w(ReportProvider.TAG, "cannot keep a report for the screen", full);
            return;
        }
        if (Copies.isHang(report)) {
            show(report, copy);
        }
    }

    private void show(Report report, File copy) {
        NotificationManager manager = (NotificationManager) context.getSystemService(Context.NOTIFICATION_SERVICE);
        if (manager == null || Build.VERSION.SDK_INT >= ANDROID_7 && !manager.areNotificationsEnabled()) {
            // The permission is the app's to ask for.
            Log.w(ReportProvider.TAG, "no notification of " + report + ", the app may not post any: open its icon Loopbox, or "
                    + "adb shell am start -n " + context.getPackageName() + "/io.loopbox.screen.Launcher");
            return;
        }
        String digest = report.getDigest();
        Notification.Builder builder =
                builder(manager)
                        .setSmallIcon(android.R.drawable.stat_notify_error)
                        .setContentTitle(ReportText.headline(report))
                        .setContentText(digest)
                        .setStyle(new Notification.BigTextStyle().bigText(digest))
                        .setWhen(report.getTimeMs())
                        .setShowWhen(true)
                        .setLocalOnly(true)
                        .setAutoCancel(true)
                        // Each report replaces the one before; a row of hangs is no row of sounds.
                        .setOnlyAlertOnce(true)
                        .setContentIntent(intent(copy));
        manager.notify(CHANNEL, ID, builder.build());
    }

    @SuppressWarnings("deprecation") // the only constructor below Android 8
    private Notification.Builder builder(NotificationManager manager) {
        if (Build.VERSION.SDK_INT < ANDROID_8) {
            return new Notification.Builder(context);
        }
        NotificationChannel channel = new NotificationChannel(CHANNEL, "Loopbox", NotificationManager.IMPORTANCE_LOW);
        channel.setDescription("Hangs of the main thread, in debug builds");
        manager.createNotificationChannel(channel);
        return new Notification.Builder(context, CHANNEL);
    }

    /** An intent that opens the report; the way back leads to the list of reports. */
    private PendingIntent intent(File copy) {
        Intent list = new Intent(context, ReportsActivity.class);
        list.addFlags(Intent.FLAG_ACTIVITY_NEW_TASK | Intent.FLAG_ACTIVITY_CLEAR_TASK);
        Intent[] both = {list, ReportActivity.intent(context, copy)};
        int flags = PendingIntent.FLAG_UPDATE_CURRENT;
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.M) {
            flags |= PendingIntent.FLAG_IMMUTABLE;
        }
        return PendingIntent.getActivities(context, ID, both, flags);
    }
}
