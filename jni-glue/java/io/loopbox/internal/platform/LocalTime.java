// SPDX-License-Identifier: MIT OR Apache-2.0
package io.loopbox.internal.platform;

import java.util.TimeZone;

/**
 * Wall-clock time as text. The year is that of the calendar, and the digits are ASCII in every language.
 * SimpleDateFormat does not ensure this: YYYY in its pattern means the week year, and its digits depend on
 * the Locale.
 */
public final class LocalTime {
    private static final long DAY_MS = 86_400_000;

    private LocalTime() {}

    /** The day in the form 2024-12-30. */
    public static String day(long unixMs, TimeZone zone) {
        return date(floor(unixMs + zone.getOffset(unixMs), DAY_MS));
    }

    /** The time in the form 2026-11-21T20:10:02.588+00:00. */
    public static String stamp(long unixMs, TimeZone zone) {
        int offset = zone.getOffset(unixMs);
        long local = unixMs + offset;
        long days = floor(local, DAY_MS);
        long ms = local - days * DAY_MS;
        int minutes = Math.abs(offset) / 60_000;
        return date(days)
                + 'T'
                + pad(ms / 3_600_000, 2)
                + ':'
                + pad(ms / 60_000 % 60, 2)
                + ':'
                + pad(ms / 1_000 % 60, 2)
                + '.'
                + pad(ms % 1_000, 3)
                + (offset < 0 ? '-' : '+')
                + pad(minutes / 60, 2)
                + ':'
                + pad(minutes % 60, 2);
    }

    /** The number of days from 1970-01-01 to that day; -1 when the text is no day. */
    public static long daysOf(String day) {
        if (day.length() != 10 || day.charAt(4) != '-' || day.charAt(7) != '-') {
            return -1;
        }
        try {
            int year = Integer.parseInt(day.substring(0, 4));
            int month = Integer.parseInt(day.substring(5, 7));
            int ofMonth = Integer.parseInt(day.substring(8));
            // Years begin in March here, so that the leap day is the last of one.
            long years = month > 2 ? year : year - 1;
            long ofYear = (153L * (month + (month > 2 ? -3 : 9)) + 2) / 5 + ofMonth - 1;
            return 365 * years + years / 4 - years / 100 + years / 400 + ofYear - 719_468;
        } catch (NumberFormatException none) {
            return -1;
        }
    }

    private static String date(long days) {
        // As in daysOf, in eras of 400 years.
        long shifted = days + 719_468;
        long era = floor(shifted, 146_097);
        long ofEra = shifted - era * 146_097;
        long years = (ofEra - ofEra / 1_460 + ofEra / 36_524 - ofEra / 146_096) / 365;
        long ofYear = ofEra - (365 * years + years / 4 - years / 100);
        long month = (5 * ofYear + 2) / 153;
        long ofMonth = ofYear - (153 * month + 2) / 5 + 1;
        long year = years + era * 400 + (month > 9 ? 1 : 0);
        return pad(year, 4) + '-' + pad(month > 9 ? month - 9 : month + 3, 2) + '-' + pad(ofMonth, 2);
    }

    /** Does what Math.floorDiv does, which exists only since API 24. */
    private static long floor(long number, long by) {
        return number >= 0 ? number / by : -((by - 1 - number) / by);
    }

    private static String pad(long number, int digits) {
        StringBuilder text = new StringBuilder(Long.toString(number));
        while (text.length() < digits) {
            text.insert(0, '0');
        }
        return text.toString();
    }
}
