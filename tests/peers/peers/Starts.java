package peers;

import android.os.Looper;
import com.bugsnag.android.Bugsnag;
import com.bugsnag.android.Configuration;
import java.util.concurrent.Callable;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import org.acra.ACRA;
import org.acra.config.CoreConfigurationBuilder;
import scenario.Script;

/** SDKs that need more of a phone than a testbed has: whether they start, and what stops them. */
public final class Starts {
    private Starts() {}

    public static void main(String[] arguments) {
        Looper.prepareMainLooper();
        start("bugsnag", () -> Bugsnag.start(Peer.context, new Configuration("0123456789abcdef0123456789abcdef")));
        start("acra", () -> {
            ACRA.init(Peer.context, new CoreConfigurationBuilder());
            return null;
        });
        start("okhttp", () -> {
            Request request = new Request.Builder().url("http://127.0.0.1:9/").build();
            return new OkHttpClient().newCall(request);
        });
        Runtime.getRuntime().halt(0);
    }

    private static void start(String name, Callable<?> sdk) {
        try {
            sdk.call();
            Script.say("started " + name);
        } catch (Throwable refused) {
            refused.printStackTrace();
            Script.say("refused " + name + " " + refused.getClass().getName() + " " + refused.getMessage());
        }
    }
}
