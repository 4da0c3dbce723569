package android.os;

/** Field numbers that the build generates from a .proto file; never read here. */
final class MessageProto {
    static final long WHEN = 1, CALLBACK = 2, WHAT = 3, ARG1 = 4, ARG2 = 5, OBJ = 6, TARGET = 7, BARRIER = 8;
}
