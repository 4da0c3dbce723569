package android.telephony;

/** As much as BlockCanary asks for, which an app without the permission does not get. */
public class TelephonyManager {
    public String getDeviceId() {
        throw new SecurityException("no permission");
    }
}
