package android.app;

import android.content.ContextWrapper;
import android.os.Bundle;

/** A screen of the scripted app; {@link Application} drives it. */
public class Activity extends ContextWrapper {
    public Activity() {
        super(null);
    }

    protected void onCreate(Bundle state) {}
}
