package android.view.accessibility;

/** What a screen reader is notified of: there is none here. Window.Callback needs the type. */
public final class AccessibilityEvent {
    private AccessibilityEvent() {}
}
