package xcrash;

/** Declares this interface of xCrash, as of June 2025. */
public interface ICrashCallback {
    void onCrash(String logPath, String emergency) throws Exception;
}
