package java.lang;

/** libart 13 needs only the nested class of its map. */
public abstract class ClassValue<T> {
    static class ClassValueMap {}
}
