import java.lang.reflect.InvocationTargetException;

/**
 * Loads the library that the first argument names, then runs {@code main} of the class that the second one
 * names.
 */
public final class Boot {
    public static void main(String[] arguments) throws Throwable {
        System.load(arguments[0]);
        String[] others = new String[arguments.length - 2];
        System.arraycopy(arguments, 2, others, 0, others.length);
        try {
            Class.forName(arguments[1]).getMethod("main", String[].class).invoke(null, (Object) others);
        } catch (InvocationTargetException thrown) {
            throw thrown.getCause();
        }
    }

    private Boot() {}
}
