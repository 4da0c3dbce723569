package android.os;

/** A class of API 36, with tracing off. */
public final class PerfettoTrackEventExtra {
    public static final class Builder {
        public Builder addField(long id, long value) { return this; }
        public Builder addField(long id, String value) { return this; }
        public Builder beginNested(long id) { return this; }
        public Builder beginProto() { return this; }
        public Builder endNested() { return this; }
        public Builder endProto() { return this; }
        public Builder setFlow(long id) { return this; }
        public Builder setTerminatingFlow(long id) { return this; }
        public Builder usingThreadCounterTrack(long id, String name) { return this; }
        public void emit() {}
    }

    private PerfettoTrackEventExtra() {}
}
