package com.example.shop;

/** What a list posts for each pixel it moves. */
public final class Scroll implements Runnable {
    @Override
    public void run() {
        // So short that only its number matters.
    }
}
