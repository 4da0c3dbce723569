package android.graphics;

/** What View.onDraw gets: drawing takes the time of the app's code and shows nothing. */
public class Canvas {}
