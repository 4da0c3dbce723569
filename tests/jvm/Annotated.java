import io.loopbox.Config;

/**
 * Annotates a configuration with many names, with some of them again, and with one more. Prints whether the
 * last one is refused.
 */
public final class Annotated {
    private Annotated() {}

    public static void main(String[] arguments) {
        Config.Builder builder = new Config.Builder().annotate("user", "u").annotate("scene", "s");
        for (int number = 0; number < 16; number++) {
            builder.annotate("name" + number, "first");
        }
        for (int again = 0; again < 20; again++) {
            builder.annotate("name3", "again" + again).annotate("user", "u" + again);
        }
        System.out.println("built " + (builder.build() != null));
        try {
            builder.annotate("another", "value");
            System.out.println("not refused");
        } catch (IllegalArgumentException refused) {
            System.out.println("refused " + refused.getMessage());
        }
    }
}
