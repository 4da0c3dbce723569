package android.view;

/** Shortcuts that an app has: they are not asked for here. Window.Callback needs the type. */
public final class KeyboardShortcutGroup {
    private KeyboardShortcutGroup() {}
}
