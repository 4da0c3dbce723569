package com.example.shop;

import android.os.Handler;
import android.os.Looper;
import android.os.Message;
import scenario.Work;

/** Handles messages that take as long as their arg1 says, in ms. */
public class ShopHandler extends Handler {
    public ShopHandler(Looper looper) {
        super(looper);
    }

    @Override
    public void handleMessage(Message message) {
        Work.busy(message.arg1);
    }

    /** Sends a message that will take this long. */
    public void send(int what, int ms) {
        sendMessage(obtainMessage(what, ms, 0));
    }
}
