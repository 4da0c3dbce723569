package smooth;

import io.loopbox.FrameGesture;
import io.loopbox.FrameListener;
import io.loopbox.FrameWindow;
import scenario.Script;

/** Prints the recorder's notifications about frames. */
final class PrintsFrames implements FrameListener {
    @Override
    public void onWindow(FrameWindow window) {
        boolean plausible =
                window.getFrames() > 0 && window.getFps() > 0 && window.getLongestMs() > 0 && window.getRefreshRate() > 20 && window.getLevel() != null;
        Script.say("window of " + window.getScene() + (plausible ? "" : ", which cannot be"));
    }

    @Override
    public void onGesture(FrameGesture gesture) {
        Script.say("gesture " + gesture.getOrdinal() + (gesture.isByFinger() ? " of a finger" : " of the app"));
    }

    @Override
    public void onSkippedFrames(int frames, String scene) {
        Script.say("skipped " + (frames >= 40 ? "many" : "few") + " in " + scene);
    }
}
