import io.loopbox.Config;
import io.loopbox.Loopbox;
import java.io.File;

/**
 * Installs for many users, on a JVM, where each installation is refused: for a user in the share ({@code
 * userShare}) because of the platform, for any other user because of the share.
 */
public final class Shares {
    private static final File FOLDER = new File(System.getProperty("java.io.tmpdir"), "loopbox-shares");
    private static final int USERS = 100_000;

    private Shares() {}

    public static void main(String[] arguments) {
        StringBuilder first = new StringBuilder();
        for (int number = 0; number < 64; number++) {
            first.append(isIn(0.5, "user-" + number) ? '1' : '0');
        }
        System.out.println("first " + first);
        double[] shares = {0, 0.001, 0.01, 0.1, 0.5, 0.9, 1};
        int[] in = new int[shares.length];
        int lost = 0;
        int both = 0;
        for (int number = 0; number < USERS; number++) {
            String user = "user-" + number;
            boolean before = false;
            for (int at = 0; at < shares.length; at++) {
                boolean now = isIn(shares[at], user);
                in[at] += now ? 1 : 0;
                lost += before && !now ? 1 : 0;
                before = now;
            }
            both += isIn(0.1, "spring/" + user) && isIn(0.1, "autumn/" + user) ? 1 : 0;
        }
        for (int at = 0; at < shares.length; at++) {
            System.out.println("share " + shares[at] + " " + in[at]);
        }
        System.out.println("lost " + lost);
        System.out.println("both " + both);
        System.out.println("again " + isIn(0.5, "user-1") + " " + isIn(0.5, "user-1"));
        System.out.println("reason " + reason(0.1, "user-2"));
        System.out.println("reason " + reason(0.1, ""));
        System.out.println("all " + isIn(1, ""));
        for (double wrong : new double[] {-0.1, 1.1, Double.NaN}) {
            try {
                new Config.Builder(FOLDER).userShare(wrong, "user");
                System.out.println("not refused");
            } catch (IllegalArgumentException refusal) {
                System.out.println("refused " + refusal.getMessage());
            }
        }
        System.out.println("lines " + Loopbox.status().getReason());
    }

    private static boolean isIn(double share, String id) {
        return !reason(share, id).contains("userShare");
    }

    private static String reason(double share, String id) {
        return Loopbox.install(new Config.Builder(FOLDER).userShare(share, id).build()).getReason();
    }
}
