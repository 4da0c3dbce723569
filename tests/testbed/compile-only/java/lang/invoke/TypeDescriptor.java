package java.lang.invoke;

/** A parameter type of what the methods of a record call. */
public interface TypeDescriptor {}
