package android.os;

/** Field numbers that the build generates from a .proto file; never read here. */
final class LooperProto {
    static final long THREAD_NAME = 1138166333441L, THREAD_ID = 1112396529666L, QUEUE = 1146756268035L;
}
