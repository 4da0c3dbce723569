package io.sentry.protocol;

import java.util.List;

/** Of sentry-java 6 and newer. */
public final class DebugMeta {
    public void setImages(List<DebugImage> value) {}
}
