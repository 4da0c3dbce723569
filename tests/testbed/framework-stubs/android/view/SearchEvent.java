package android.view;

/** What started a search: nothing does here. Window.Callback needs the type. */
public class SearchEvent {
    private SearchEvent() {}
}
