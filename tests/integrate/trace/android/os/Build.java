package android.os;

/** The part of Build that the link uses. */
public final class Build {
    private Build() {}

    public static final class VERSION {
        public static int SDK_INT;

        private VERSION() {}
    }
}
