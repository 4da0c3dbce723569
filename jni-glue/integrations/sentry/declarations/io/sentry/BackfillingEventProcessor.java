package io.sentry;

/**
 * Of sentry-android 6.2 and newer: the only processors that events of the last process are passed to since
 * 6.19.
 */
public interface BackfillingEventProcessor extends EventProcessor {}
