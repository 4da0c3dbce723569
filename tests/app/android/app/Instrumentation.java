package android.app;

import android.content.Context;
import android.os.Bundle;

/** Makes an app's components and calls them; its methods are on the stack of every start. */
public class Instrumentation {
    public Application newApplication(ClassLoader loader, String className, Context context)
            throws ReflectiveOperationException {
        Application application = (Application) loader.loadClass(className).newInstance();
        application.attach(context);
        return application;
    }

    public void callApplicationOnCreate(Application application) {
        application.onCreate();
    }

    public Activity newActivity(ClassLoader loader, String className) throws ReflectiveOperationException {
        return (Activity) loader.loadClass(className).newInstance();
    }

    public void callActivityOnCreate(Activity activity, Bundle state) {
        activity.performCreate(state);
    }

    public void callActivityOnResume(Activity activity) {
        activity.onResume();
    }
}
