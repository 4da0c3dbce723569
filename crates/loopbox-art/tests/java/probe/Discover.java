package probe;

/** Discovery alone. */
public final class Discover {
    public static void main(String[] args) {
        System.out.println("installed " + Probe.install());
        System.out.println("done");
    }
}
