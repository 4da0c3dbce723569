package android.os;

/** Field numbers that the build generates from a .proto file; never read here. */
final class LooperProto {
    static final long THREAD_NAME = 1, THREAD_ID = 2, QUEUE = 3;
}
