package android.os;

import dalvik.system.VMRuntime;

/**
 * SDK_INT comes from -Dloopbox.sdk, so that one framework.jar serves every testbed; it must not be a
 * constant.
 */
public class Build {
    /** The runtime's ABI, which may be another one than the machine's. */
    public static final String CPU_ABI = VMRuntime.getCurrentInstructionSet().equals("arm64") ? "arm64-v8a" : "x86_64";
    public static final String[] SUPPORTED_ABIS = {CPU_ABI};

    /**
     * Not a compile-time constant, as on a device: an app that is compiled against this class gets the value
     * of the platform that it runs on.
     */
    public static final String MODEL = String.valueOf((Object) "testbed");

    public static class VERSION {
        public static final String RELEASE = String.valueOf((Object) "");
        public static final int SDK_INT = Integer.getInteger("loopbox.sdk", 29);
    }

    public static class VERSION_CODES {
        public static final int LOLLIPOP = 21, O = 26, P = 28, Q = 29, R = 30;
    }
}
