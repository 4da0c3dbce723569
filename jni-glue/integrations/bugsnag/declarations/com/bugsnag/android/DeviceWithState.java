package com.bugsnag.android;

import java.util.Date;

/** Declares this class of bugsnag-android 5 and newer. */
public class DeviceWithState {
    private Date time;

    public DeviceWithState(Date time) {
        this.time = time;
    }

    /**
     * When the event happened. If the exit info plugin reports the event, as an ANR, this is
     * ApplicationExitInfo.getTimestamp().
     */
    public Date getTime() {
        return time;
    }

    public void setTime(Date value) {
        time = value;
    }

    public void setFreeDisk(Long value) {}

    public void setFreeMemory(Long value) {}

    public void setOrientation(String value) {}
}
