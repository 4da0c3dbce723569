package android.os;

/** As much as the link asks for. */
public final class Build {
    private Build() {}

    public static final class VERSION {
        public static int SDK_INT;

        private VERSION() {}
    }
}
