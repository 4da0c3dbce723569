package android.os;

/**
 * The caller's side of a call into another process, with the names of API 29. There is no Binder driver:
 * native code reads from a socket whose other end does not answer.
 */
public final class BinderProxy implements IBinder {
    public boolean transact(int code, Parcel data, Parcel reply, int flags) {
        return transactNative(code, data, reply, flags);
    }

    @Override public IInterface queryLocalInterface(String descriptor) { return null; }
    @Override public void linkToDeath(DeathRecipient recipient, int flags) {}
    @Override public boolean isBinderAlive() { return true; }

    private native boolean transactNative(int code, Parcel data, Parcel reply, int flags);
}
