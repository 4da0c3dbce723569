// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.sample;

import android.app.Application;
import android.content.Context;
import android.util.Log;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import io.loopbox.Status;

/** Installs the recorder with the ten lines of docs/integrate.md. */
public class SampleApplication extends Application implements Listener {
    private static final String TAG = "sample";

    private Status status;

    @Override
    protected void attachBaseContext(Context base) {
        super.attachBaseContext(base);
        status = Loopbox.install(this, new Config.Builder().listener(this).annotate("user", "u-17").build());
        Log.i(TAG, status.toString());
    }

    /** What the recorder returned at its installation. */
    public Status status() {
        return status;
    }

    @Override
    public void onReport(Report report) {
        Log.i(TAG, report.getKind() + " " + report.getFile() + "\n" + report.getDigest());
    }
}
