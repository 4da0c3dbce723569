package android.util.proto;

/** Bug reports in protobuf do not exist here; the classes of the queue only have to link. */
public class ProtoOutputStream {
    public long start(long field) { return 0; }
    public void end(long token) {}
    public void write(long field, long value) {}
    public void write(long field, int value) {}
    public void write(long field, boolean value) {}
    public void write(long field, String value) {}
}
