package android.app;

import android.content.Context;

public class Notification {
    public String channel;
    public CharSequence title;
    public CharSequence text;
    public CharSequence bigText;
    public long when;
    public int icon;
    public boolean onlyAlertOnce;
    public PendingIntent intent;

    public abstract static class Style {}

    public static class BigTextStyle extends Style {
        private CharSequence text;

        public BigTextStyle bigText(CharSequence text) {
            this.text = text;
            return this;
        }
    }

    public static class Builder {
        private final Notification made = new Notification();

        public Builder(Context context) {}

        public Builder(Context context, String channel) {
            made.channel = channel;
        }

        public Builder setSmallIcon(int icon) {
            made.icon = icon;
            return this;
        }

        public Builder setContentTitle(CharSequence title) {
            made.title = title;
            return this;
        }

        public Builder setContentText(CharSequence text) {
            made.text = text;
            return this;
        }

        public Builder setStyle(Style style) {
            made.bigText = ((BigTextStyle) style).text;
            return this;
        }

        public Builder setWhen(long when) {
            made.when = when;
            return this;
        }

        public Builder setShowWhen(boolean show) {
            return this;
        }

        public Builder setLocalOnly(boolean localOnly) {
            return this;
        }

        public Builder setAutoCancel(boolean autoCancel) {
            return this;
        }

        public Builder setOnlyAlertOnce(boolean onlyAlertOnce) {
            made.onlyAlertOnce = onlyAlertOnce;
            return this;
        }

        public Builder setContentIntent(PendingIntent intent) {
            made.intent = intent;
            return this;
        }

        public Notification build() {
            return made;
        }
    }
}
