package java.util.function;

/** Since API 24. */
public interface Consumer<T> {
    void accept(T value);
}
