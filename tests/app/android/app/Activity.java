package android.app;

import android.content.ContextWrapper;
import android.os.Bundle;
import android.view.Window;

/** A screen of the scripted app; {@link Application} drives it. */
public class Activity extends ContextWrapper {
    public Activity() {
        super(null);
    }

    private final Window window = new Window();

    public Window getWindow() {
        return window;
    }

    protected void onCreate(Bundle state) {}
}
