package android.content;

import java.util.HashMap;
import java.util.Map;

public class Intent {
    public static final String ACTION_CHOOSER = "android.intent.action.CHOOSER";
    public static final String EXTRA_INTENT = "android.intent.extra.INTENT";

    public final String action;
    public final Class<?> component;
    public final Map<String, Object> extras = new HashMap<String, Object>();
    public String type;
    public ClipData clip;
    public int flags;

    public Intent(String action) {
        this.action = action;
        component = null;
    }

    public Intent(Context context, Class<?> component) {
        action = null;
        this.component = component;
    }

    public Intent addFlags(int more) {
        flags |= more;
        return this;
    }

    public Intent setType(String type) {
        this.type = type;
        return this;
    }

    public Intent putExtra(String name, String value) {
        extras.put(name, value);
        return this;
    }

    public Intent putExtra(String name, android.os.Parcelable value) {
        extras.put(name, value);
        return this;
    }

    public String getStringExtra(String name) {
        return (String) extras.get(name);
    }

    public void setClipData(ClipData clip) {
        this.clip = clip;
    }

    public static Intent createChooser(Intent target, CharSequence title) {
        Intent chooser = new Intent(ACTION_CHOOSER);
        chooser.extras.put(EXTRA_INTENT, target);
        return chooser;
    }
}
