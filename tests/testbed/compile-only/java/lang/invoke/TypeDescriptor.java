package java.lang.invoke;

/** A parameter of what the methods of a record call. */
public interface TypeDescriptor {}
