package android.app;

public final class NotificationChannel {
    final String id;
    final int importance;

    public NotificationChannel(String id, CharSequence name, int importance) {
        this.id = id;
        this.importance = importance;
    }

    public void setDescription(String description) {}
}
