package xcrash;

/** Of xCrash 2.4 and newer. */
public interface ICrashCallback {
    void onCrash(String logPath, String emergency) throws Exception;
}
