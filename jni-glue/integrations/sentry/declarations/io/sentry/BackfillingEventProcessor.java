package io.sentry;

/**
 * Declares this interface of sentry-android 6.2 and newer. Since 6.19, events of the last process are passed
 * only to processors that implement it.
 */
public interface BackfillingEventProcessor extends EventProcessor {}
