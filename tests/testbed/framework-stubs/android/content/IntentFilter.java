package android.content;

/** Which broadcasts a receiver wants. */
public class IntentFilter {
    private final String action;

    public IntentFilter(String action) {
        this.action = action;
    }

    public final String getAction(int index) {
        return action;
    }
}
