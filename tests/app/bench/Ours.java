package bench;

import android.os.Looper;
import android.os.Message;
import io.loopbox.Config;
import io.loopbox.Loopbox;
import io.loopbox.Monitor;
import io.loopbox.MonitorConfig;
import io.loopbox.inhouse.QueueHead;
import java.io.File;
import java.lang.reflect.Field;

/** Loopbox itself, and the variant without any watcher. */
final class Ours {
    private Ours() {}

    /** The variant without any watcher. */
    static final class None implements HookBench.Variant {
        @Override public boolean install() {
            return true;
        }

        @Override public void uninstall() {}
    }

    /** The Observer hook as a class. */
    static class Observer implements HookBench.Variant {
        @Override public boolean install() {
            return Ours.install(Config.Hook.OBSERVER);
        }

        @Override public void uninstall() throws Exception {
            Loopbox.uninstall();
        }
    }

    /** The Observer hook with the performance monitor. */
    static final class Monitoring extends Observer {
        private Monitor monitor;

        @Override public boolean install() {
            if (!super.install()) {
                return false;
            }
            monitor = Loopbox.monitor(new MonitorConfig.Builder().build());
            return monitor.start();
        }

        @Override public void uninstall() throws Exception {
            monitor.stop();
            super.uninstall();
        }
    }

    /** The Observer hook together with another library's observer: a Proxy, which passes each call on. */
    static final class ObserverByProxy extends Observer {
        @Override public boolean install() {
            try {
                set(new Indifferent());
                return super.install();
            } catch (ReflectiveOperationException refused) {
                return false;
            }
        }

        @Override public void uninstall() throws Exception {
            super.uninstall();
            set(null);
        }

        private static void set(Object observer) throws ReflectiveOperationException {
            Field field = Looper.class.getDeclaredField("sObserver");
            field.setAccessible(true);
            field.set(null, observer);
        }
    }

    /** A Printer that does nothing: measures the cost of the strings that Looper builds for any Printer. */
    static final class EmptyPrinter implements HookBench.Variant, android.util.Printer {
        @Override public boolean install() {
            Looper.getMainLooper().setMessageLogging(this);
            return true;
        }

        @Override public void uninstall() {
            Looper.getMainLooper().setMessageLogging(null);
        }

        @Override public void println(String line) {}
    }

    /** The Printer hook. */
    static final class Printer implements HookBench.Variant {
        @Override public boolean install() {
            return Ours.install(Config.Hook.PRINTER);
        }

        @Override public void uninstall() {
            Loopbox.uninstall();
        }
    }

    /** The poll hook. */
    static class Poll implements HookBench.Variant {
        @Override public boolean install() {
            return Ours.install(Config.Hook.POLL);
        }

        @Override public void uninstall() {
            Loopbox.uninstall();
        }
    }

    /** The poll hook that also reads the head of the queue. */
    static final class PollWithPeek extends Poll {
        @Override public boolean install() {
            return Ours.install(Ours.builder(Config.Hook.POLL).pollPeek(new QueueHead()));
        }
    }

    /** The poll hook's cost for a thread that it does not watch. */
    static final class PollOfAnother extends Poll implements HookBench.OnAnotherThread {}

    /** The variant without any watcher, for the messages of another thread. */
    static final class NoneOfAnother implements HookBench.Variant, HookBench.OnAnotherThread {
        @Override public boolean install() {
            return true;
        }

        @Override public void uninstall() {}
    }

    private static final class Indifferent implements Looper.Observer {
        @Override public Object messageDispatchStarting() {
            return null;
        }

        @Override public void messageDispatched(Object token, Message message) {}

        @Override public void dispatchingThrewException(Object token, Message message, Exception exception) {}
    }

    private static boolean install(Config.Hook hook) {
        return install(builder(hook));
    }

    private static Config.Builder builder(Config.Hook hook) {
        return new Config.Builder(new File(System.getProperty("loopbox.dir"))).hook(hook);
    }

    private static boolean install(Config.Builder options) {
        return Loopbox.install(options.build()).isOn();
    }
}
