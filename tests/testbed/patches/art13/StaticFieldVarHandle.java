package java.lang.invoke;

/** libart 13 wants the class; nothing on a testbed makes one. */
final class StaticFieldVarHandle extends FieldVarHandle {
    private Class<?> declaringClass;

    StaticFieldVarHandle() {
        super(null, null);
        throw new UnsupportedOperationException();
    }
}
