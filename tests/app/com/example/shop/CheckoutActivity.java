package com.example.shop;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;

/** The screen whose pay button hangs the app. */
public final class CheckoutActivity extends Handler {
    /** The customer pressed "pay". */
    public static final int PAY = 42;

    public CheckoutActivity(Looper looper) {
        super(looper);
    }

    @Override
    public void handleMessage(Message message) {
        if (message.what == PAY) {
            onPay();
        }
    }

    private void onPay() {
        long total = new Cart().total();
        throw new AssertionError("the hang returned with " + total);
    }
}
