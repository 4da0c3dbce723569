package smooth;

import io.loopbox.MonitorListener;
import io.loopbox.Stall;
import scenario.Script;

/** Prints the lines of the performance monitor. */
final class PrintsStalls implements MonitorListener {
    @Override
    public void onBlock(long ageMs, String stack) {}

    @Override
    public void onStall(Stall stall) {
        Script.say("stall " + stall.getJson());
    }
}
