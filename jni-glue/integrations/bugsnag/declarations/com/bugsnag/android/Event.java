package com.bugsnag.android;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Declares this class of bugsnag-android 5 and newer. */
public class Event {
    private final List<Error> errors = new ArrayList<Error>();
    private final DeviceWithState device;
    private final Map<String, Object> metadata = new HashMap<String, Object>();

    public Event(DeviceWithState device) {
        this.device = device;
    }

    public DeviceWithState getDevice() {
        return device;
    }

    public List<Error> getErrors() {
        return errors;
    }

    public void addMetadata(String section, String key, Object value) {
        metadata.put(section + '.' + key, value);
    }

    public Object getMetadata(String section, String key) {
        return metadata.get(section + '.' + key);
    }

    public AppWithState getApp() {
        return new AppWithState();
    }

    public List<Thread> getThreads() {
        return new ArrayList<Thread>();
    }

    public List<Breadcrumb> getBreadcrumbs() {
        return new ArrayList<Breadcrumb>();
    }

    public void setSeverity(Severity value) {}

    public void setGroupingHash(String value) {}

    public void setUser(String id, String email, String name) {}

    public void setContext(String value) {}

    public void clearFeatureFlags() {}

    public void clearMetadata(String section) {}
}
