package android.view;

/** A bar with actions on what is selected: there is none here. Window.Callback needs the type. */
public abstract class ActionMode {
    public interface Callback {}
}
