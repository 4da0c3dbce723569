package android.telephony;

/** The method that BlockCanary calls. It throws, because the app does not have the permission. */
public class TelephonyManager {
    public String getDeviceId() {
        throw new SecurityException("no permission");
    }
}
