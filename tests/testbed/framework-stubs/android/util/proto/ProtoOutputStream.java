package android.util.proto;

/** On a testbed nothing writes bug reports in protobuf; the queue's classes only need this class to link. */
public class ProtoOutputStream {
    public long start(long field) { return 0; }
    public void end(long token) {}
    public void write(long field, long value) {}
    public void write(long field, int value) {}
    public void write(long field, boolean value) {}
    public void write(long field, String value) {}
}
