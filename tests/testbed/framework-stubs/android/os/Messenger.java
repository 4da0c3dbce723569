package android.os;

/** Message.replyTo needs the type; there is no sender to reply to. */
public final class Messenger {
    static Messenger readMessengerOrNullFromParcel(Parcel in) { return null; }
    static void writeMessengerOrNullToParcel(Messenger messenger, Parcel out) {}

    private Messenger() {}
}
