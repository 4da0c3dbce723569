package java.lang;

/** What javac extends by a record; D8 has a separate class for it below API 33. */
public abstract class Record {
    protected Record() {}

    @Override
    public abstract boolean equals(Object other);

    @Override
    public abstract int hashCode();

    @Override
    public abstract String toString();
}
