// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.sample;

import android.app.Activity;
import android.os.Bundle;
import android.view.View;
import android.widget.Button;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;
import io.loopbox.Loopbox;
import java.util.Locale;

/** A button for each kind of hang, and one that asks for a report. */
public class MainActivity extends Activity {
    /** Longer than the five seconds after which the system reports an ANR, when the screen is touched. */
    private static final long HANG_MS = 8_000;

    @Override
    protected void onCreate(Bundle state) {
        super.onCreate(state);
        LinearLayout column = new LinearLayout(this);
        column.setOrientation(LinearLayout.VERTICAL);
        TextView text = new TextView(this);
        text.setText(((SampleApplication) getApplication()).status().toString());
        column.addView(text);
        final Hangs hangs = new Hangs(getCacheDir());
        for (final Hangs.Kind kind : Hangs.Kind.values()) {
            column.addView(
                    button(
                            kind.name().toLowerCase(Locale.ROOT),
                            new View.OnClickListener() {
                                @Override
                                public void onClick(View view) {
                                    hangs.provoke(kind, HANG_MS);
                                }
                            }));
        }
        column.addView(
                button(
                        "report",
                        new View.OnClickListener() {
                            @Override
                            public void onClick(View view) {
                                Loopbox.dumpAsync("the button", null);
                            }
                        }));
        ScrollView scroll = new ScrollView(this);
        scroll.addView(column);
        setContentView(scroll);
    }

    private Button button(String label, View.OnClickListener listener) {
        Button button = new Button(this);
        button.setText(label);
        button.setOnClickListener(listener);
        return button;
    }
}
