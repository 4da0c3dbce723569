package android.os;

/** Field numbers that the build generates from a .proto file; never read here. */
final class MessageProto {
    static final long WHEN = 1112396529665L, CALLBACK = 1138166333442L, WHAT = 1120986464259L, ARG1 = 1120986464260L;
    static final long ARG2 = 1120986464261L, OBJ = 1138166333446L, TARGET = 1138166333447L, BARRIER = 1120986464264L;
}
