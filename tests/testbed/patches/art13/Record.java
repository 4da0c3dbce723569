package java.lang;

/** Superclass of records, which Java 8 class files cannot be. */
public abstract class Record {
    protected Record() {}
}
