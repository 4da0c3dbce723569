package probe;

/** Discovers ART, and does nothing else. */
public final class Discover {
    public static void main(String[] args) {
        System.out.println("installed " + Probe.install());
        System.out.println("done");
    }
}
