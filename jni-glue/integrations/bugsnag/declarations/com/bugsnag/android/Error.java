package com.bugsnag.android;

/** Declares this class of bugsnag-android 5 and newer. */
public class Error {
    private String errorClass;

    public Error(String errorClass) {
        this.errorClass = errorClass;
    }

    public String getErrorClass() {
        return errorClass;
    }

    public void setErrorClass(String value) {
        errorClass = value;
    }
}
