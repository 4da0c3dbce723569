package probe;

/** Samples main while it is inside of malloc's lock, and while it is inside of the dynamic loader's. */
public final class Parked {
    public static void main(String[] args) {
        System.out.println("installed " + Probe.install());
        System.out.println("loader " + Probe.parked(true));
        System.out.println("malloc " + Probe.parked(false));
        System.out.println("done");
    }
}
