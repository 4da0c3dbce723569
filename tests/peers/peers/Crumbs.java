package peers;

import android.content.Context;
import com.bugsnag.android.Bugsnag;
import com.bugsnag.android.Client;
import com.bugsnag.android.Configuration;
import com.bugsnag.android.Delivery;
import com.bugsnag.android.DeliveryParams;
import com.bugsnag.android.DeliveryStatus;
import com.bugsnag.android.EventPayload;
import com.bugsnag.android.Session;
import java.security.Security;
import java.util.function.Consumer;

/**
 * Bugsnag's core, without its plugins and without a network. Only its breadcrumbs can be used: events and
 * sessions have dates as text, which need ICU. Breadcrumbs have no dates before they are sent.
 */
final class Crumbs {
    private final Client client;

    /** {@code seen} is called for each breadcrumb, with its text. */
    Crumbs(Context context, Consumer<String> seen) {
        Security.addProvider(new Random());
        Configuration configuration = new Configuration("0123456789abcdef0123456789abcdef");
        configuration.addOnBreadcrumb(crumb -> {
            seen.accept(crumb.getMessage());
            return true;
        });
        configuration.setDelivery(new Delivery() {
            @Override public DeliveryStatus deliver(EventPayload event, DeliveryParams how) {
                return DeliveryStatus.DELIVERED;
            }

            @Override public DeliveryStatus deliver(Session sent, DeliveryParams how) {
                return DeliveryStatus.DELIVERED;
            }
        });
        client = Bugsnag.start(context, configuration);
    }

    void leave(String text) {
        client.leaveBreadcrumb(text);
    }
}
