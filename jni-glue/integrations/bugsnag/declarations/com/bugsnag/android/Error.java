package com.bugsnag.android;

/** Of bugsnag-android 5 and newer. */
public class Error {
    private final String errorClass;

    public Error(String errorClass) {
        this.errorClass = errorClass;
    }

    public String getErrorClass() {
        return errorClass;
    }
}
