package android.app;

import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.view.View;

/** An Activity, which the {@link Phone} starts. */
public class Activity extends Context {
    Intent intent;
    View content;
    boolean isFinished;

    protected void onCreate(Bundle state) {}

    protected void onResume() {}

    public Intent getIntent() {
        return intent;
    }

    public void setTitle(CharSequence title) {
        System.out.println("title " + title);
    }

    public void setContentView(View view) {
        content = view;
    }

    public void finish() {
        isFinished = true;
        System.out.println("finished");
    }

    public boolean isDestroyed() {
        return isFinished;
    }

    public final void runOnUiThread(Runnable action) {
        Phone.onMain(action);
    }
}
