package com.example.shop;

/** A price list that main reads without ever reaching its end. */
final class Prices {
    /**
     * The length of each phase of the hang, in milliseconds. The phases have different top frames, so that
     * their order can be checked.
     */
    private static final long PHASE_MS = 600;

    private volatile boolean more = true;

    long load(String currency) {
        long sum = currency.length();
        sum += open();
        while (more) {
            sum += parse();
        }
        return sum;
    }

    private static long open() {
        return spin(PHASE_MS);
    }

    private static long parse() {
        return spin(PHASE_MS);
    }

    /**
     * Computes until the clock has advanced by {@code ms} milliseconds: wall and CPU time both pass, on a
     * machine of any speed.
     */
    private static long spin(long ms) {
        long until = System.nanoTime() + ms * 1_000_000L;
        long turns = 0;
        while (System.nanoTime() < until) {
            turns++;
        }
        return turns;
    }
}
