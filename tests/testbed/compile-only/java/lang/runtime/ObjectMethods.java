package java.lang.runtime;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.TypeDescriptor;

/** Called by the methods of a record; D8 expands these calls. */
public final class ObjectMethods {
    public static Object bootstrap(
            MethodHandles.Lookup lookup,
            String method,
            TypeDescriptor type,
            Class<?> record,
            String names,
            MethodHandle... getters) {
        throw new UnsupportedOperationException("D8 takes it out");
    }

    private ObjectMethods() {}
}
