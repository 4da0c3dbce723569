package android.view;

/** Shortcuts that an app has: nobody asks for them here. Window.Callback needs the type. */
public class KeyboardShortcutGroup {}
