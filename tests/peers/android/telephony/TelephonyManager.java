package android.telephony;

/** As much of it as BlockCanary asks for. An app without the permission does not get that. */
public class TelephonyManager {
    public String getDeviceId() {
        throw new SecurityException("no permission");
    }
}
