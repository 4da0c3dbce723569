package com.bugsnag.android;

/** Declares this class of bugsnag-android 5 and newer. */
public class Breadcrumb {}
