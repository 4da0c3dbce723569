// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import android.os.Build;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/**
 * Facts about the device. Also checks whether the framework finds the methods of our classes that it calls.
 */
public final class Platform {
    private Platform() {}

    /**
     * A public constant of the platform, as text; null when it does not exist. It is looked up by name,
     * because only devices have all constants: the classes that replace the platform elsewhere lack some.
     */
    public static String field(Class<?> type, String name) {
        try {
            Object value = type.getField(name).get(null);
            return value == null ? null : value.toString();
        } catch (ReflectiveOperationException absent) {
            return null;
        }
    }

    /**
     * Whether a class of ours has a method that the framework calls through an interface which an app's
     * shrinker may not know. Where the shrinker does not know the interface, only our rule keeps the method.
     * Each call of a method that was renamed or removed would end in an AbstractMethodError. The name is
     * compared here, in a loop, because a shrinker that sees it in a look-up renames it there, too.
     */
    public static boolean has(Object ours, Class<?> returns, String name, Class<?>... parameters) {
        for (Method method : ours.getClass().getDeclaredMethods()) {
            int modifiers = method.getModifiers();
            if (Modifier.isPublic(modifiers)
                    && !Modifier.isAbstract(modifiers)
                    && !Modifier.isStatic(modifiers)
                    && method.getReturnType() == returns
                    && method.getName().equals(name)
                    && Arrays.equals(method.getParameterTypes(), parameters)) {
                return true;
            }
        }
        return false;
    }

    /**
     * A text for reports: our class {@code type} has no method with the name {@code method}, because a
     * shrinker has renamed or removed it.
     */
    public static String missing(String method, String type) {
        return method + " is missing in " + type + ": a shrinker did not have the library's rules";
    }

    public static String device() {
        String maker = field(Build.class, "MANUFACTURER");
        String model = field(Build.class, "MODEL");
        return maker == null || model == null ? null : maker + ' ' + model;
    }

    /** The highest frequency of the first processor; null where it is not known. */
    public static Long maxKilohertz() {
        return Vitals.number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "");
    }
}
