package android.os;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

/** The stubs' interface to the host program, which registers both natives before the first Looper. */
public final class BedNative {
    public static native void log(String line);

    public static native int gettid();

    /**
     * The native methods of a class, each as its name and its signature, with line breaks in between. Looking
     * one of them up in the runtime would initialize the class, and its initializer may call them.
     */
    static String nativesOf(Class<?> owner) {
        StringBuilder text = new StringBuilder();
        for (Method method : owner.getDeclaredMethods()) {
            if (Modifier.isNative(method.getModifiers())) {
                text.append(method.getName()).append('(');
                for (Class<?> parameter : method.getParameterTypes()) {
                    text.append(descriptor(parameter));
                }
                text.append(')').append(descriptor(method.getReturnType())).append('\n');
            }
        }
        return text.toString();
    }

    private static String descriptor(Class<?> type) {
        if (!type.isPrimitive()) {
            String name = type.getName().replace('.', '/');
            return type.isArray() ? name : "L" + name + ";";
        }
        return type == void.class ? "V" : type == boolean.class ? "Z" : type == long.class ? "J" : type == int.class ? "I" : "?";
    }

    private BedNative() {}
}
