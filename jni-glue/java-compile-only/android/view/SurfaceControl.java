package android.view;

import java.util.List;

/** The part that is used here: since API 36 it reports what the compositor knows of frames. */
public final class SurfaceControl {
    private SurfaceControl() {}

    public static class JankData {
        JankData() {}

        public long getVsyncId() {
            throw new UnsupportedOperationException();
        }

        public int getJankType() {
            throw new UnsupportedOperationException();
        }
    }

    public interface OnJankDataListener {
        void onJankDataAvailable(List<JankData> jankData);
    }

    public static class OnJankDataListenerRegistration {
        OnJankDataListenerRegistration() {}

        public void removeAfter(long afterVsync) {
            throw new UnsupportedOperationException();
        }
    }
}
