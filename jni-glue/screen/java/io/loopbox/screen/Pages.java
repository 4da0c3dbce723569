// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import android.app.Activity;
import android.content.Context;
import android.graphics.Typeface;
import android.util.Log;
import android.view.View;
import android.widget.Button;
import android.widget.HorizontalScrollView;
import android.widget.LinearLayout;
import android.widget.ScrollView;
import android.widget.TextView;
import java.util.List;

/**
 * Makes the views of the two screens, the list and the report, without resources. Has the thread that reads
 * files for these screens.
 */
final class Pages {
    private static final int SIDE_DP = 16;
    private static final int ABOVE_DP = 8;

    private Pages() {}

    /** Work that reads files, and what to do with the result. */
    interface Load<T> {
        /** Reads the files. Called on a background thread. */
        T read();

        /** Shows the result. Called on the main thread, unless the screen is gone by then. */
        void show(T read);
    }

    static <T> void load(final Activity activity, final Load<T> load) {
        new Thread("loopbox-screen") {
            @Override
            public void run() {
                try {
                    final T read = load.read();
                    activity.runOnUiThread(
                            new Runnable() {
                                @Override
                                public void run() {
                                    if (!activity.isDestroyed()) {
                                        load.show(read);
                                    }
                                }
                            });
                } catch (Throwable fault) {
                    // A tool of the desk does not end the app.
                    Log.w(ReportProvider.TAG, "the screen cannot show it", fault);
                }
            }
        }.start();
    }

    /** The scrollable content of an Activity; views are added at its end. */
    static LinearLayout page(Activity activity) {
        LinearLayout page = new LinearLayout(activity);
        page.setOrientation(LinearLayout.VERTICAL);
        int side = px(activity, SIDE_DP);
        page.setPadding(side, 0, side, side);
        ScrollView scroll = new ScrollView(activity);
        // Android 15 draws an app's windows below the system's bars.
        scroll.setFitsSystemWindows(true);
        scroll.addView(page);
        activity.setContentView(scroll);
        return page;
    }

    static TextView text(Context context, String words) {
        TextView view = new TextView(context);
        view.setText(words);
        view.setTextSize(14);
        view.setPadding(0, px(context, ABOVE_DP), 0, 0);
        return view;
    }

    static TextView heading(Context context, String words) {
        TextView view = text(context, words);
        view.setTextSize(16);
        view.setTypeface(Typeface.DEFAULT_BOLD);
        view.setPadding(0, px(context, 2 * ABOVE_DP), 0, 0);
        return view;
    }

    static TextView note(Context context, String words) {
        TextView view = text(context, words);
        view.setTextSize(12);
        return view;
    }

    /** A view of these lines, which are not broken and can be copied. */
    static View code(Context context, List<String> lines) {
        StringBuilder all = new StringBuilder();
        for (String line : lines) {
            all.append(all.length() == 0 ? "" : "\n").append(line);
        }
        TextView view = note(context, all.toString());
        view.setTypeface(Typeface.MONOSPACE);
        view.setTextIsSelectable(true);
        HorizontalScrollView scroll = new HorizontalScrollView(context);
        scroll.addView(view);
        return scroll;
    }

    static View button(Context context, String words, View.OnClickListener does) {
        Button button = new Button(context);
        button.setText(words);
        button.setOnClickListener(does);
        return button;
    }

    static int px(Context context, int dp) {
        return Math.round(dp * context.getResources().getDisplayMetrics().density);
    }
}
