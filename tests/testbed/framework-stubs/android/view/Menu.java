package android.view;

/** A panel's entries: there are no panels here. Window.Callback needs the type. */
public interface Menu {}
