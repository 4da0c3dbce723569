package android.view;

/** An entry of a panel: there are no panels here. Window.Callback needs the type. */
public interface MenuItem {}
