package android.os;

/** Field numbers that the build generates from a .proto file; never read here. */
final class MessageQueueProto {
    static final long MESSAGES = 2246267895809L, IS_POLLING_LOCKED = 1133871366146L, IS_QUITTING = 1133871366147L;
}
