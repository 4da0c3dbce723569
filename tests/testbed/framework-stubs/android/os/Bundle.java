package android.os;

import java.util.HashMap;
import java.util.Set;

/** The values of Message.getData and of a manifest's meta-data: strings, numbers and booleans. */
public class Bundle implements Cloneable {
    private final HashMap<String, Object> values = new HashMap<>();

    public Bundle() {}

    public Bundle(Bundle other) { values.putAll(other.values); }

    public Object get(String key) { return values.get(key); }
    public Set<String> keySet() { return values.keySet(); }
    public String getString(String key) { return values.get(key) instanceof String ? (String) values.get(key) : null; }
    public void putString(String key, String value) { values.put(key, value); }
    public void putInt(String key, int value) { values.put(key, value); }
    public void putFloat(String key, float value) { values.put(key, value); }
    public void putBoolean(String key, boolean value) { values.put(key, value); }
    @Override public Object clone() { return new Bundle(this); }
}
