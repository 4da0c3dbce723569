package android.app;

import android.os.Build;

/** The system's side: what it shows, and what it refuses on its version. */
public class NotificationManager {
    public boolean areNotificationsEnabled() {
        since(24);
        return Phone.showsNotifications;
    }

    public void createNotificationChannel(NotificationChannel channel) {
        since(26);
        Phone.channels.put(channel.id, channel.importance);
    }

    public void notify(String tag, int id, Notification notification) {
        boolean hasChannel = notification.channel != null;
        if (hasChannel && !Phone.channels.containsKey(notification.channel) || hasChannel != Build.VERSION.SDK_INT >= 26) {
            throw new IllegalArgumentException("no channel: " + notification.channel);
        }
        if (notification.icon == 0) {
            throw new IllegalArgumentException("Invalid notification (no valid small icon)");
        }
        Phone.shown.put(tag + " " + id, notification);
    }

    private static void since(int level) {
        if (Build.VERSION.SDK_INT < level) {
            throw new NoSuchMethodError("since " + level);
        }
    }
}
