package java.lang;

/** The superclass of records. Class files of Java 8 cannot be records. */
public abstract class Record {
    protected Record() {}
}
