package probe;

/** Main is sampled inside of malloc's lock and inside of the dynamic loader's. */
public final class Parked {
    public static void main(String[] args) {
        System.out.println("installed " + Probe.install());
        System.out.println("loader " + Probe.parked(true));
        System.out.println("malloc " + Probe.parked(false));
        System.out.println("done");
    }
}
