package android.os;

/** Field numbers that the build generates from a .proto file; never read here. */
final class MessageQueueProto {
    static final long MESSAGES = 1, IS_POLLING_LOCKED = 2, IS_QUITTING = 3;
}
