package peers;

import com.datadog.android.api.InternalLogger;
import com.datadog.android.api.context.TimeInfo;
import com.datadog.android.api.feature.Feature;
import com.datadog.android.api.feature.FeatureContextUpdateReceiver;
import com.datadog.android.api.feature.FeatureEventReceiver;
import com.datadog.android.api.feature.FeatureScope;
import com.datadog.android.api.feature.FeatureSdkCore;
import com.datadog.android.internal.time.DefaultTimeProvider;
import com.datadog.android.internal.time.TimeProvider;
import com.datadog.android.privacy.TrackingConsent;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import kotlin.Unit;
import kotlin.jvm.functions.Function1;
import okhttp3.Call;
import okhttp3.OkHttpClient;

/**
 * What Datadog's watchers use of their SDK: only the time, from the SDK's own class. This core does nothing
 * else, so that it costs the watchers nothing.
 */
final class DatadogCore implements FeatureSdkCore {
    private final TimeProvider time = new DefaultTimeProvider();
    private final InternalLogger logger;

    DatadogCore(InternalLogger logger) {
        this.logger = logger;
    }

    @Override public TimeProvider getTimeProvider() {
        return time;
    }

    @Override public InternalLogger getInternalLogger() {
        return logger;
    }

    @Override public void registerFeature(Feature feature) {}

    @Override public FeatureScope getFeature(String name) {
        return null;
    }

    @Override public void updateFeatureContext(
            String name, boolean asynchronously, Function1<? super Map<String, Object>, Unit> update) {}

    @Override public Map<String, Object> getFeatureContext(String name, boolean asynchronously) {
        return null;
    }

    @Override public void setEventReceiver(String name, FeatureEventReceiver receiver) {}

    @Override public void removeEventReceiver(String name) {}

    @Override public void setContextUpdateReceiver(FeatureContextUpdateReceiver receiver) {}

    @Override public void removeContextUpdateReceiver(FeatureContextUpdateReceiver receiver) {}

    @Override public ExecutorService createSingleThreadExecutorService(String name) {
        return null;
    }

    @Override public ScheduledExecutorService createScheduledExecutorService(String name) {
        return null;
    }

    @Override public Call.Factory createOkHttpCallFactory(Function1<? super OkHttpClient.Builder, Unit> configure) {
        return null;
    }

    @Override public void setAnonymousId(UUID id) {}

    @Override public String getName() {
        return "peers";
    }

    @Override public TimeInfo getTime() {
        return null;
    }

    @Override public String getService() {
        return "peers";
    }

    @Override public boolean isCoreActive() {
        return true;
    }

    @Override public void setTrackingConsent(TrackingConsent consent) {}

    @Override public void setUserInfo(String id, String name, String email, Map<String, ? extends Object> more) {}

    @Override public void addUserProperties(Map<String, ? extends Object> more) {}

    @Override public void clearUserInfo() {}

    @Override public void clearAllData() {}

    @Override public void setAccountInfo(String id, String name, Map<String, ? extends Object> more) {}

    @Override public void addAccountExtraInfo(Map<String, ? extends Object> more) {}

    @Override public void clearAccountInfo() {}
}
