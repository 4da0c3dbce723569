package smooth;

import io.loopbox.FrameGesture;
import io.loopbox.FrameListener;
import io.loopbox.FrameWindow;
import scenario.Script;

/** Prints what the recorder reports of frames. */
final class Told implements FrameListener {
    @Override
    public void onWindow(FrameWindow window) {
        boolean plausible =
                window.frames() > 0 && window.fps() > 0 && window.longestMs() > 0 && window.refreshRate() > 20 && window.level() != null;
        Script.say("window of " + window.scene() + (plausible ? "" : ", which cannot be"));
    }

    @Override
    public void onGesture(FrameGesture gesture) {
        Script.say("gesture " + gesture.ordinal() + (gesture.finger() ? " of a finger" : " of the app"));
    }

    @Override
    public void onSkippedFrames(int frames, String scene) {
        Script.say("skipped " + (frames >= 40 ? "many" : "few") + " in " + scene);
    }
}
