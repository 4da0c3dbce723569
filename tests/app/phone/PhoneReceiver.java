package phone;

import android.content.BroadcastReceiver;
import android.content.Context;
import android.content.Intent;

/** A receiver that the manifest names. */
public final class PhoneReceiver extends BroadcastReceiver {
    @Override
    public void onReceive(Context context, Intent intent) {
        Places.RECEIVER.reach();
    }
}
