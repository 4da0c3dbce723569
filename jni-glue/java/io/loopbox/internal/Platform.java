// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal;

import android.os.Build;

/** Which device this is. */
final class Platform {
    private Platform() {}

    /**
     * A public constant of the platform; null when it is not there. By name: what stands in for the platform off a device
     * has only some of them.
     */
    static String field(Class<?> type, String name) {
        try {
            Object value = type.getField(name).get(null);
            return value == null ? null : value.toString();
        } catch (ReflectiveOperationException absent) {
            return null;
        }
    }

    static String device() {
        String maker = field(Build.class, "MANUFACTURER");
        String model = field(Build.class, "MODEL");
        return maker == null || model == null ? null : maker + ' ' + model;
    }

    /** Of the first processor; null where it is not known. */
    static Long maxKilohertz() {
        return Vitals.number("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "");
    }
}
