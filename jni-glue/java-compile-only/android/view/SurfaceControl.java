package android.view;

import java.util.List;

/**
 * The part of android.view.SurfaceControl that the recorder uses: what the compositor reports of frames,
 * since API 36.
 */
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
