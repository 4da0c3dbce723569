package android.app;

/** A group of an app's notifications that the user can set up together. Since API 26. */
public final class NotificationChannel {
    public NotificationChannel(String id, CharSequence name, int importance) {}

    public native void setDescription(String description);
}
