package android.os;

/** SDK_INT comes from -Dloopbox.sdk, so that one framework.jar serves every testbed; it must not be a constant. */
public class Build {
    public static class VERSION {
        public static final int SDK_INT = Integer.getInteger("loopbox.sdk", 29);
    }

    public static class VERSION_CODES {
        public static final int LOLLIPOP = 21, O = 26, P = 28, Q = 29, R = 30;
    }
}
