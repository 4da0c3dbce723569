package java.lang.invoke;

/** libart 14 wants the class; nothing on a bed makes one. */
final class StaticFieldVarHandle extends FieldVarHandle {
    private Class<?> declaringClass;

    StaticFieldVarHandle() {
        super(null, null);
        throw new UnsupportedOperationException();
    }
}
