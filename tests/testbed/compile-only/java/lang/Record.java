package java.lang;

/** The superclass of records for javac; below API 33 D8 replaces it with another class. */
public abstract class Record {
    protected Record() {}

    @Override
    public abstract boolean equals(Object other);

    @Override
    public abstract int hashCode();

    @Override
    public abstract String toString();
}
