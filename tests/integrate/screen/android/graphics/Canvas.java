package android.graphics;

import java.util.Locale;

/** A canvas that prints what is drawn. */
public class Canvas {
    public void drawRect(float left, float top, float right, float bottom, Paint paint) {
        print("rect %08x %.1f %.1f %.1f %.1f", paint.color, left, top, right, bottom);
    }

    public void drawText(String text, float x, float y, Paint paint) {
        print("words %08x %.1f %.1f %s", paint.color, x, y, text);
    }

    private static void print(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
