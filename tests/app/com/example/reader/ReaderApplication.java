package com.example.reader;

import android.app.Application;
import android.content.Context;
import io.loopbox.Config;
import io.loopbox.Listener;
import io.loopbox.Loopbox;
import io.loopbox.Redactor;
import io.loopbox.Report;
import io.loopbox.Status;
import java.util.concurrent.CountDownLatch;

/** An app as in docs/integrate.md: it uses only the public API of Loopbox. */
public final class ReaderApplication extends Application implements Listener, Redactor {
    private final Config.Builder builder;
    final CountDownLatch reported = new CountDownLatch(1);
    Status status;

    ReaderApplication(Config.Builder builder) {
        this.builder = builder;
    }

    @Override
    protected void attachBaseContext(Context base) {
        super.attachBaseContext(base);
        Config config = builder.listener(this).redactor(this).annotate("user", "u-17").build();
        status = Loopbox.install(this, config);
    }

    @Override
    public void onReport(Report report) {
        Main.say("report " + report.getKind() + " " + report.getLabel() + " " + report.getFile().getName());
        Main.say("digest " + report.getDigest());
        reported.countDown();
    }

    @Override
    public String redact(String name, String value) {
        if (name.equals("broken")) {
            throw new IllegalStateException("a redactor of an app");
        }
        return name.equals("card") ? null : value.replace("secret", "***");
    }
}
