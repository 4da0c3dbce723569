package android.view;

import java.util.List;

/** The part of API 36's class that reports the compositor's jank types; {@link TestCompositor} makes them. */
public final class SurfaceControl {
    private SurfaceControl() {}

    /** The platform's type, as far as a testbed needs it. */
    public static class JankData {
        public static final int JANK_NONE = 0;
        public static final int JANK_COMPOSER = 1;
        public static final int JANK_APPLICATION = 2;
        public static final int JANK_OTHER = 4;

        private final long vsyncId;
        private final int jankType;

        JankData(long vsyncId, int jankType) {
            this.vsyncId = vsyncId;
            this.jankType = jankType;
        }

        public long getVsyncId() { return vsyncId; }
        public int getJankType() { return jankType; }
    }

    /** The platform's type, as far as a testbed needs it. */
    public interface OnJankDataListener {
        void onJankDataAvailable(List<JankData> jankData);
    }

    /** The platform's type, as far as a testbed needs it. */
    public static class OnJankDataListenerRegistration {
        final OnJankDataListener listener;

        OnJankDataListenerRegistration(OnJankDataListener listener) {
            this.listener = listener;
        }

        public void removeAfter(long afterVsync) { TestCompositor.remove(this); }
    }
}
