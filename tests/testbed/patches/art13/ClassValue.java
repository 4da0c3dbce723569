package java.lang;

/** libart 13 needs of this class only the nested class {@code ClassValueMap}. */
public abstract class ClassValue<T> {
    static class ClassValueMap {}
}
