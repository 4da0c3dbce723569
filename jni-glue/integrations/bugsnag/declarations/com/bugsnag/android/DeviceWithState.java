package com.bugsnag.android;

import java.util.Date;

/** Declares this class of bugsnag-android 5 and newer. */
public class DeviceWithState {
    private Date time;

    public DeviceWithState(Date time) {
        this.time = time;
    }

    /**
     * When the event happened. For an ANR that the exit info plugin reports,
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
