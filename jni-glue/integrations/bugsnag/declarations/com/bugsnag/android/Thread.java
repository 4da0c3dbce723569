package com.bugsnag.android;

/** Of bugsnag-android 5 and newer. */
public class Thread {}
