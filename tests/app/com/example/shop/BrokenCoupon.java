package com.example.shop;

/** Throws on the main thread. */
public final class BrokenCoupon implements Runnable {
    @Override
    public void run() {
        throw new IllegalStateException("coupon expired");
    }
}
