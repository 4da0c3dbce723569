package android.app;

/** What the user can set for some notifications of an app. Since API 26. */
public final class NotificationChannel {
    public NotificationChannel(String id, CharSequence name, int importance) {}

    public native void setDescription(String description);
}
