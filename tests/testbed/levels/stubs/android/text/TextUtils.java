package android.text;

/** What the framework's argument checks need. */
public class TextUtils {
    public static boolean isEmpty(CharSequence text) { return text == null || text.length() == 0; }

    private TextUtils() {}
}
