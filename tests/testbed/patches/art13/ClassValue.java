package java.lang;

/** Only its map is looked up. */
public abstract class ClassValue<T> {
    static class ClassValueMap {}
}
