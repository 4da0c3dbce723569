// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import android.app.Activity;
import android.os.Bundle;
import android.view.View;
import android.widget.LinearLayout;
import android.widget.TextView;
import io.loopbox.Loopbox;
import io.loopbox.Report;
import java.io.File;
import java.util.ArrayList;
import java.util.List;

/**
 * The screen with the list of all reports, the newest first. The manifest declares it, and the system creates
 * it.
 */
public final class ReportsActivity extends Activity {
    private LinearLayout rows;

    /** Called by the system, because of the manifest. */
    public ReportsActivity() {}

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        setTitle("Hangs");
        rows = Pages.page(this);
    }

    /** Fills the list again, because the screen of a report may have deleted that report. */
    @Override
    protected void onResume() {
        super.onResume();
        Pages.load(
                this,
                new Pages.Load<List<Row>>() {
                    @Override
                    public List<Row> read() {
                        List<Row> found = new ArrayList<Row>();
                        for (File copy : ReportProvider.copies(ReportsActivity.this).all()) {
                            found.add(new Row(copy));
                        }
                        return found;
                    }

                    @Override
                    public void show(List<Row> found) {
                        fill(found);
                    }
                });
    }

    /** What the list shows of a report. */
    private static final class Row {
        final File copy;
        final String title;
        final String digest;

        Row(File copy) {
            this.copy = copy;
            Report report = Report.of(copy);
            title = ReportText.headline(report) + "\n" + ReportText.age(report.getTimeMs(), System.currentTimeMillis());
            digest = report.getDigest();
        }
    }

    private void fill(List<Row> found) {
        rows.removeAllViews();
        rows.addView(Pages.note(this, "Recorder " + Loopbox.status()));
        if (found.isEmpty()) {
            rows.addView(Pages.text(this, "No report so far."));
        }
        for (final Row row : found) {
            View.OnClickListener opens =
                    new View.OnClickListener() {
                        @Override
                        public void onClick(View view) {
                            startActivity(ReportActivity.intent(ReportsActivity.this, row.copy));
                        }
                    };
            TextView title = Pages.heading(this, row.title);
            title.setOnClickListener(opens);
            rows.addView(title);
            TextView digest = Pages.text(this, row.digest);
            digest.setMaxLines(3);
            digest.setOnClickListener(opens);
            rows.addView(digest);
        }
    }
}
