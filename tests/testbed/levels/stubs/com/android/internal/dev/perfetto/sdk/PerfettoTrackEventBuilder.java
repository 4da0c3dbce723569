package com.android.internal.dev.perfetto.sdk;

/** A class of API 37, with tracing off. */
public final class PerfettoTrackEventBuilder {
    public PerfettoTrackEventBuilder addArg(String name, long value) { return this; }
    public PerfettoTrackEventBuilder addArg(String name, String value) { return this; }
    public PerfettoTrackEventBuilder addField(long id, long value) { return this; }
    public PerfettoTrackEventBuilder addField(long id, String value) { return this; }
    public PerfettoTrackEventBuilder beginNested(long id) { return this; }
    public PerfettoTrackEventBuilder beginProto() { return this; }
    public PerfettoTrackEventBuilder endNested() { return this; }
    public PerfettoTrackEventBuilder endProto() { return this; }
    public PerfettoTrackEventBuilder setFlow(long id) { return this; }
    public PerfettoTrackEventBuilder setTerminatingFlow(long id) { return this; }
    public PerfettoTrackEventBuilder usingThreadCounterTrack(long id, String name) { return this; }
    public void emit() {}
}
