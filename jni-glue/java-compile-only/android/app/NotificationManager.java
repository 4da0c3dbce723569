package android.app;

/** Has the system show notifications. */
public class NotificationManager {
    /** Since API 24. */
    public static final int IMPORTANCE_LOW = 2;

    private NotificationManager() {}

    public native void notify(String tag, int id, Notification notification);

    /** Since API 24. */
    public native boolean areNotificationsEnabled();

    /** Since API 26. */
    public native void createNotificationChannel(NotificationChannel channel);
}
