// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import android.app.Activity;
import android.content.ClipData;
import android.content.Context;
import android.content.Intent;
import android.net.Uri;
import android.os.Bundle;
import android.util.Log;
import android.view.View;
import android.widget.LinearLayout;
import io.loopbox.Report;
import java.io.File;
import java.io.IOException;
import java.util.List;

/** The screen with one report. The system creates it, because of the manifest. */
public final class ReportActivity extends Activity {
    private static final String NAME = "io.loopbox.screen.report";

    /** How many characters of text are shared at most: an intent holds less than a megabyte. */
    private static final int MOST_SHARED_TEXT = 100_000;

    private LinearLayout page;

    /** Called by the system, because of the manifest. */
    public ReportActivity() {}

    static Intent intent(Context context, File copy) {
        return new Intent(context, ReportActivity.class).putExtra(NAME, copy.getName());
    }

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        setTitle("Hang");
        page = Pages.page(this);
        final String name = getIntent().getStringExtra(NAME);
        Pages.load(
                this,
                new Pages.Load<Shown>() {
                    @Override
                    public Shown read() {
                        File copy = ReportProvider.copies(ReportActivity.this).find(name);
                        return copy == null ? null : new Shown(copy);
                    }

                    @Override
                    public void show(Shown shown) {
                        fill(shown);
                    }
                });
    }

    /** What is shown of a report. */
    private static final class Shown {
        final File copy;
        final String headline;
        final String about;
        final String digest;
        Timeline timeline;
        List<ReportText.Section> sections;
        String failure;

        Shown(File copy) {
            this.copy = copy;
            Report report = Report.of(copy);
            headline = ReportText.headline(report);
            String age = ReportText.age(report.getTimeMs(), System.currentTimeMillis());
            about = report.getProcessName() + ", pid " + report.getPid() + ", " + age;
            digest = report.getDigest();
            try {
                ReportFile file = ReportFile.read(copy);
                timeline = Timeline.of(file);
                sections = ReportText.sections(file);
                failure = file.leftOut();
            } catch (IOException unreadable) {
                failure = unreadable.toString();
            }
        }

        String plain() {
            if (sections == null) {
                return digest;
            }
            String text = ReportText.plain(headline, digest, sections);
            return text.length() < MOST_SHARED_TEXT ? text : text.substring(0, MOST_SHARED_TEXT);
        }
    }

    private void fill(final Shown shown) {
        page.removeAllViews();
        if (shown == null) {
            page.addView(Pages.text(this, "This report is gone: newer ones have taken its place, or it was deleted."));
            return;
        }
        page.addView(Pages.heading(this, shown.headline));
        page.addView(Pages.note(this, shown.about));
        page.addView(Pages.text(this, shown.digest));
        addButtons(shown);
        if (shown.sections != null) {
            page.addView(new TimelineView(this, shown.timeline));
            for (ReportText.Section section : shown.sections) {
                page.addView(Pages.heading(this, section.title));
                page.addView(Pages.code(this, section.lines));
            }
        }
        if (!shown.failure.isEmpty()) {
            page.addView(Pages.note(this, "Not all of it can be read: " + shown.failure));
        }
        page.addView(Pages.note(this, shown.copy.getName() + " has more than that: share it, and see loopbox report on a computer."));
    }

    private void addButtons(final Shown shown) {
        LinearLayout buttons = new LinearLayout(this);
        buttons.addView(
                Pages.button(
                        this,
                        "Share",
                        new View.OnClickListener() {
                            @Override
                            public void onClick(View view) {
                                share(shown);
                            }
                        }));
        buttons.addView(
                Pages.button(
                        this,
                        "Delete",
                        new View.OnClickListener() {
                            @Override
                            public void onClick(View view) {
                                delete(shown.copy.getName());
                            }
                        }));
        page.addView(buttons);
    }

    /** Shares the file, with the screen's content as text for apps that take no files. */
    private void share(Shown shown) {
        Uri uri = ReportProvider.uri(this, shown.copy);
        Intent send = new Intent(Intent.ACTION_SEND);
        send.setType("application/octet-stream");
        send.putExtra(Intent.EXTRA_STREAM, uri);
        send.putExtra(Intent.EXTRA_SUBJECT, shown.headline);
        send.putExtra(Intent.EXTRA_TEXT, shown.plain());
        // Who is chosen may read this one file, for as long as its screen is open.
        send.setClipData(ClipData.newRawUri(shown.copy.getName(), uri));
        send.addFlags(Intent.FLAG_GRANT_READ_URI_PERMISSION);
        startActivity(Intent.createChooser(send, "Share the report"));
    }

    private void delete(final String name) {
        Pages.load(
                this,
                new Pages.Load<Boolean>() {
                    @Override
                    public Boolean read() {
                        try {
                            ReportProvider.copies(ReportActivity.this).delete(name);
                            return true;
                        } catch (IOException fault) {
                            Log.w(ReportProvider.TAG, "not deleted", fault);
                            return false;
                        }
                    }

                    @Override
                    public void show(Boolean isGone) {
                        if (isGone) {
                            finish();
                        }
                    }
                });
    }
}
