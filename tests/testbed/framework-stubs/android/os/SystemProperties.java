package android.os;

/** Android's properties are the VM's: -Dlog.looper.0.main.slow=100 and the like. */
public class SystemProperties {
    private SystemProperties() {}

    public static String get(String key) { return get(key, ""); }
    public static String get(String key, String fallback) { return System.getProperty(key, fallback); }
    public static int getInt(String key, int fallback) { return Integer.getInteger(key, fallback); }

    public static boolean getBoolean(String key, boolean fallback) {
        String value = System.getProperty(key);
        return value == null ? fallback : value.equals("1") || value.equals("true");
    }
}
