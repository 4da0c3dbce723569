package android.os;

/** What Message.getData hands out; strings only. */
public class Bundle implements Cloneable {
    private final java.util.HashMap<String, String> strings = new java.util.HashMap<>();

    public Bundle() {}

    public Bundle(Bundle other) { strings.putAll(other.strings); }

    public String getString(String key) { return strings.get(key); }
    public void putString(String key, String value) { strings.put(key, value); }
    @Override public Object clone() { return new Bundle(this); }
}
