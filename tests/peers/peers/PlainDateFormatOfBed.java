package peers;

import java.util.Date;
import java.util.Locale;

/**
 * The class that BlockCanary gets in place of SimpleDateFormat, which needs ICU's classes: no testbed has
 * them. It formats a date as milliseconds since 1970.
 */
public final class PlainDateFormatOfBed {
    public PlainDateFormatOfBed(String pattern) {}

    public PlainDateFormatOfBed(String pattern, Locale locale) {}

    public String format(Object value) {
        return value instanceof Date ? Long.toString(((Date) value).getTime()) : String.valueOf(value);
    }

    public String format(Date date) {
        return Long.toString(date.getTime());
    }
}
