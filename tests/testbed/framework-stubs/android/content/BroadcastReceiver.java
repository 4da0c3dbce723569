package android.content;

/** What ActivityThread.handleReceiver calls. */
public abstract class BroadcastReceiver {
    public abstract void onReceive(Context context, Intent intent);
}
