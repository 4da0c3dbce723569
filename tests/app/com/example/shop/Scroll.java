package com.example.shop;

/** The message that a list posts for each pixel that it moves. */
public final class Scroll implements Runnable {
    @Override
    public void run() {
        // So short that only its number matters.
    }
}
