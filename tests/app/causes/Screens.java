package causes;

import android.app.Activity;
import com.oplus.view.OplusViewHook;
import com.tencent.mmkv.MMKV;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Scenarios in which main spends its time in one method, and the cause is in another method. */
final class Screens {
    private Screens() {}

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what) {
        return switch (what) {
            case "resume" -> new Hang(() -> new PriceScreen().onResume());
            case "helper-sleep" -> new Hang(Basket::checkOut);
            case "maker" -> new Hang(() -> OplusViewHook.dispatch(new Chart()));
            case "sdk" -> new Hang(Preferences::load);
            case "branches" -> new Hang(Home::show);
            case "mutual" -> new Hang(Json::parse);
            case "recursion" -> new Hang(() -> Sums.ways(60));
            case "regex" -> new Hang(Search::matches);
            case "exceptions" -> new Hang(Numbers::parseAll);
            case "reflection" -> new Hang(Events::post);
            case "spin" -> new Hang(Bridge::awaitReady);
            case "list" -> new Hang(Orders::sort);
            case "poll" -> new Hang(Login::awaitToken);
            default -> null;
        };
    }

    /** A screen whose life-cycle method calls a helper, and the helper computes. */
    static final class PriceScreen extends Activity {
        @Override
        protected void onResume() {
            refresh();
        }

        private void refresh() {
            while (true) {
                CpuUtils.busy(20);
            }
        }
    }

    /** A helper as apps have it. */
    static final class CpuUtils {
        static void busy(int ms) {
            Causes.Work.busy(ms);
        }
    }

    /** A class that calls a helper, and the helper sleeps. */
    static final class Basket {
        static void checkOut() {
            ThreadUtils.sleepQuietly(600_000);
        }
    }

    /** A helper as apps have it. */
    static final class ThreadUtils {
        static void sleepQuietly(int ms) {
            Causes.Work.sleep(ms);
        }
    }

    /** A class that is called through a method of the device's maker. */
    static final class Chart implements Runnable {
        @Override
        public void run() {
            layOut();
        }

        private static void layOut() {
            long sum = 0;
            while (sum >= 0) {
                sum = (sum * 31 + 7) & 0xffff;
            }
        }
    }

    /** A class that calls a library, and the library computes. */
    static final class Preferences {
        static int load() {
            return MMKV.decodeAll();
        }
    }

    /** Three tasks in turn, none of which takes most of the time. */
    static final class Home {
        static void show() {
            while (true) {
                banner();
                feed();
                badges();
            }
        }

        private static void banner() {
            Causes.Work.sleep(40);
        }

        private static void feed() {
            Causes.Work.busy(35);
        }

        private static void badges() {
            Causes.Work.sleep(25);
        }
    }

    /** A parser whose four methods call each other, to different depths. */
    static final class Json {
        private static long sink;

        static void parse() {
            while (true) {
                for (int depth = 1; depth < 40; depth++) {
                    value(depth);
                }
            }
        }

        private static void value(int depth) {
            for (int i = 0; i < 200; i++) {
                sink = sink * 31 + i;
            }
            if (depth > 0) {
                array(depth - 1);
            }
        }

        private static void array(int depth) {
            for (int i = 0; i < 100; i++) {
                sink = sink * 29 + i;
            }
            element(depth);
        }

        private static void element(int depth) {
            for (int i = 0; i < 150; i++) {
                sink = sink * 23 + i;
            }
            object(depth);
        }

        private static void object(int depth) {
            for (int i = 0; i < 200; i++) {
                sink = sink * 19 + i;
            }
            value(depth);
        }
    }

    /** A recursive method. */
    static final class Sums {
        static long ways(int n) {
            return n < 2 ? n : ways(n - 1) + ways(n - 2);
        }
    }

    /** A regular expression that backtracks through all possibilities, in native code. */
    static final class Search {
        static boolean matches() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < 40; i++) {
                text.append('a');
            }
            Pattern pattern = Pattern.compile("(a+)+b");
            boolean found = false;
            while (!found) {
                found = pattern.matcher(text).matches();
            }
            return found;
        }
    }

    /** A class that relies on exceptions for control flow. */
    static final class Numbers {
        static int parseAll() {
            int failed = 0;
            while (true) {
                try {
                    failed += Integer.parseInt("none");
                } catch (NumberFormatException e) {
                    failed++;
                }
            }
        }
    }

    /** A class that calls its own event method by reflection, and that method computes. */
    static final class Events {
        static void post() {
            try {
                Method method = Events.class.getDeclaredMethod("onOrder");
                method.invoke(null);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
        }

        static void onOrder() {
            Map<Integer, Integer> counts = new HashMap<>();
            for (int i = 0; ; i++) {
                counts.put(i & 1023, i);
            }
        }
    }

    /** Polls another thread's result instead of waiting for it. */
    static final class Bridge {
        private static volatile boolean ready;

        static void awaitReady() {
            while (!ready) {
                Thread.yield();
            }
        }
    }

    /**
     * A class that moves the first element of a long list to its end, again and again. Each move shifts all
     * other elements.
     */
    static final class Orders {
        static void sort() {
            List<Integer> all = new ArrayList<>();
            for (int i = 0; i < 30_000; i++) {
                all.add(i);
            }
            while (true) {
                all.add(all.remove(0));
            }
        }
    }

    /** Polls, and sleeps in between. */
    static final class Login {
        private static volatile String token;

        static void awaitToken() {
            while (token == null) {
                Causes.Work.sleep(10);
            }
        }
    }
}
