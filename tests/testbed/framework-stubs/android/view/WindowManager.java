package android.view;

/** Windows have no place on a testbed. Window.Callback needs the type of their attributes. */
public interface WindowManager {
    class LayoutParams {}
}
