package scenario;

import android.os.Handler;
import android.os.Looper;
import com.example.shop.BrokenCoupon;
import com.example.shop.ShopHandler;

/** Messages that behave unusually. */
final class OddMessages {
    /** An exception that ends Looper.loop(): the loop of a main Looper ends in no other way. */
    static final class Stop extends RuntimeException implements Runnable {
        Stop() {
            super("stop", null, false, false);
        }

        @Override
        public void run() {
            throw this;
        }
    }

    /** Runs its own loop, as a modal dialog does. */
    private static final class ModalDialog implements Runnable {
        private final Looper looper;

        ModalDialog(Looper looper) {
            this.looper = looper;
        }

        @Override
        public void run() {
            Work.busy(20);
            ShopHandler shop = new ShopHandler(looper);
            shop.send(11, 70);
            shop.send(12, 80);
            runAll(looper);
            Work.busy(20);
        }
    }

    /** Ends the main Looper, which Android does not allow. */
    private static final class Quitter implements Runnable {
        @Override
        public void run() {
            Looper.getMainLooper().quit();
        }
    }

    /** Recurses without end. */
    private static final class Bottomless implements Runnable {
        @Override
        public void run() {
            deeper(0);
        }

        private static int deeper(int level) {
            return deeper(level + 1) + 1;
        }
    }

    /** A message with an unusual toString. */
    private static final class Printed implements Runnable {
        private final String text;

        Printed(String text) {
            this.text = text;
        }

        @Override
        public void run() {
            Work.busy(60);
        }

        @Override
        public String toString() {
            if (text == null) {
                throw new IllegalStateException("no words");
            }
            return text;
        }
    }

    /** An object whose text must not leave the phone. */
    static final class Secret {
        @Override
        public String toString() {
            return "card 4929 0000 target=of.somebody.Else }";
        }
    }

    private final Looper looper;
    private final Handler handler;
    private final ShopHandler shop;

    OddMessages(Looper looper) {
        this.looper = looper;
        handler = new Handler(looper);
        shop = new ShopHandler(looper);
    }

    /**
     * Runs the loop until the messages that are due now have run. A {@link Stop} behind them then ends the
     * loop.
     */
    static void runAll(Looper looper) {
        run(looper, 0);
    }

    /** Runs the loop for a while, so that the queue runs empty. */
    static void beIdle(Looper looper) {
        run(looper, 30);
    }

    /** Runs the loop for this long. */
    static void run(Looper looper, long ms) {
        Stop stop = new Stop();
        new Handler(looper).postDelayed(stop, ms);
        runUntil(looper, stop);
    }

    /** Runs the loop until this stop message, which another thread posts, has its turn. */
    static void runUntil(Looper looper, Stop stop) {
        while (true) {
            try {
                Looper.loop();
            } catch (Stop reached) {
                if (reached == stop) {
                    return;
                }
                // Of the loop around this one.
                new Handler(looper).post(reached);
            } catch (IllegalStateException caught) {
                Script.say("caught " + caught.getMessage());
            } catch (StackOverflowError caught) {
                Script.say("caught an error");
            }
        }
    }

    void run(String mode) {
        if ("nested".equals(mode)) {
            handler.post(new ModalDialog(looper));
        } else if ("throws".equals(mode)) {
            handler.post(new BrokenCoupon());
        } else if ("quit".equals(mode)) {
            handler.post(new Quitter());
        } else if ("error".equals(mode)) {
            handler.post(new Bottomless());
        } else if ("strings".equals(mode)) {
            handler.post(new Printed(null));
            handler.post(new Printed("two\nlines: 9"));
            handler.post(new Printed(repeat("long ", 20_000)));
            handler.post(new Printed(""));
        } else {
            throw new IllegalArgumentException("no such mode: " + mode);
        }
        shop.send(21, 60);
        runAll(looper);
    }

    private static String repeat(String text, int times) {
        StringBuilder all = new StringBuilder();
        for (int i = 0; i < times; i++) {
            all.append(text);
        }
        return all.toString();
    }
}
