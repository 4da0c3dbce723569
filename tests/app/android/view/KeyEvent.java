package android.view;

/** An event that says nothing. */
public class KeyEvent {}
