package com.tencent.mmkv;

/** A well-known library, which an app calls. */
public final class MMKV {
    private MMKV() {}

    public static int decodeAll() {
        int sum = 1;
        while (sum != 0) {
            sum = decode(sum);
        }
        return sum;
    }

    private static int decode(int sum) {
        int next = sum;
        for (int i = 0; i < 1_000; i++) {
            next = next * 31 + i;
        }
        return next | 1;
    }
}
