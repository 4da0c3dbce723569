package android.graphics;

/** A font whose letters are half as wide as they are high. */
public class Paint {
    int color;
    private float textSize;

    public Paint(int flags) {}

    public void setColor(int color) {
        this.color = color;
    }

    public void setAlpha(int alpha) {
        color = color & 0xffffff | alpha << 24;
    }

    public void setTextSize(float size) {
        textSize = size;
    }

    public float measureText(String text) {
        return text.length() * textSize / 2;
    }

    public float descent() {
        return textSize / 4;
    }
}
