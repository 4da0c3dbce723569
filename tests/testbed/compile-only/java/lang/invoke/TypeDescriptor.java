package java.lang.invoke;

/** The type of a parameter of ObjectMethods.bootstrap, which the methods of a record call. */
public interface TypeDescriptor {}
