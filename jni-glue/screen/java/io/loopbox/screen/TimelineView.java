// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.screen;

import android.content.Context;
import android.graphics.Canvas;
import android.graphics.Paint;
import android.view.View;

/**
 * Draws {@link Timeline}: time from left to right. The colour of a bar shows its kind. The height of its dark
 * lower part shows the share of work.
 */
final class TimelineView extends View {
    private static final int BARS_DP = 56;
    private static final int LEGEND_DP = 16;
    private static final int LETTERS_DP = 11;
    private static final int GREY = 0xff808080;
    private static final int NO_WORK_ALPHA = 0x60;

    private final Timeline line;
    private final Paint paint = new Paint(Paint.ANTI_ALIAS_FLAG);
    private final int bars;
    private final int legend;

    TimelineView(Context context, Timeline line) {
        super(context);
        this.line = line;
        bars = Pages.px(context, BARS_DP);
        legend = Pages.px(context, LEGEND_DP);
        paint.setTextSize(Pages.px(context, LETTERS_DP));
        setContentDescription("What main did in the last " + ReportText.time(line.lengthNs));
    }

    @Override
    protected void onMeasure(int width, int height) {
        // The words of the colours stand in two rows below the time.
        setMeasuredDimension(MeasureSpec.getSize(width), bars + 4 * legend);
    }

    @Override
    protected void onDraw(Canvas canvas) {
        int width = getWidth();
        for (Timeline.Bar bar : line.bars) {
            float left = bar.from * width;
            // What took a moment is seen, too.
            float right = Math.max(bar.to * width, left + 1);
            paint.setColor(colour(bar.kind));
            float worked = legend + bars * (1 - bar.work);
            if (bar.work < 1) {
                paint.setAlpha(NO_WORK_ALPHA);
                canvas.drawRect(left, legend, right, worked, paint);
                paint.setAlpha(0xff);
            }
            canvas.drawRect(left, worked, right, legend + bars, paint);
        }
        paint.setColor(GREY);
        float below = bars + 2 * legend - paint.descent();
        canvas.drawText("-" + ReportText.time(line.lengthNs), 0, below, paint);
        canvas.drawText("now", width - paint.measureText("now"), below, paint);
        float at = 0;
        int row = 1;
        for (Timeline.Kind kind : Timeline.Kind.values()) {
            float wide = paint.measureText(words(kind)) + legend;
            if (at + wide > width && at > 0) {
                at = 0;
                row++;
            }
            paint.setColor(colour(kind));
            canvas.drawText(words(kind), at, bars + (row + 2) * legend - paint.descent(), paint);
            at += wide;
        }
    }

    private static int colour(Timeline.Kind kind) {
        switch (kind) {
            case RUNNING:
                return 0xffd03b3b;
            case SINGLE:
                return 0xffd9772b;
            case DETAIL:
                return 0xff1f6f5c;
            case GROUP:
                return 0xff3fa187;
            case FROZEN:
                return 0xff4a7fc1;
            case UNSEEN:
                return 0xff9063b8;
            default:
                return 0xffa0a0a0;
        }
    }

    private static String words(Timeline.Kind kind) {
        switch (kind) {
            case RUNNING:
                return "at the report";
            case SINGLE:
                return "one long message";
            case DETAIL:
                return "a message by name";
            case GROUP:
                return "messages";
            case FROZEN:
                return "frozen";
            case UNSEEN:
                return "not seen";
            default:
                return "idle";
        }
    }
}
