package com.example.shop;

import scenario.Work;

/** Decodes an image on the main thread, for 700 ms. */
public final class ImageDecoder implements Runnable {
    /** How long the decoding takes, in milliseconds. */
    public static final int MS = 700;

    @Override
    public void run() {
        decode();
    }

    private static void decode() {
        Work.busy(MS);
    }
}
