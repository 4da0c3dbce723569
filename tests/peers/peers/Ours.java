package peers;

import android.os.SystemClock;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/** Loopbox at its defaults, except for the hook. */
final class Ours extends Peer {
    private final Config.Hook hook;

    Ours(String hook) {
        super("loopbox-" + hook.toLowerCase(java.util.Locale.ROOT));
        this.hook = Config.Hook.valueOf(hook);
    }

    @Override public boolean install() {
        Config.Builder config = new Config.Builder(new File(System.getProperty("loopbox.dir"))).hook(hook);
        config.listener(report -> reports(report.getDigest()));
        return Loopbox.install(context, config.build()).isOn();
    }

    @Override void start() {
        throw new UnsupportedOperationException();
    }

    @Override void stop() {
        Loopbox.uninstall();
    }
}
