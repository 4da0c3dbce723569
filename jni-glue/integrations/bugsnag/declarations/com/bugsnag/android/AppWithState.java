package com.bugsnag.android;

/** Declares this class of bugsnag-android 5 and newer. */
public class AppWithState {
    public Number getVersionCode() {
        return 1;
    }

    public void setVersion(String value) {}

    public void setVersionCode(Number value) {}

    public void setBuildUuid(String value) {}

    public void setDuration(Number value) {}

    public void setDurationInForeground(Number value) {}

    public void setInForeground(Boolean value) {}

    public void setLaunching(Boolean value) {}
}
