package android.os;

/** There is no Binder driver: every call comes from this process, which lives as long as its binders. */
public class Binder implements IBinder {
    private IInterface owner;

    public static long clearCallingIdentity() { return 0; }
    public static void flushPendingCommands() {}
    public static int getCallingUid() { return Process.myUid(); }
    /**
     * Does nothing. On a device it makes StrictMode's policy apply to calls of other processes; there are
     * none here.
     */
    public static void setThreadStrictModePolicy(int policyMask) {}

    public void attachInterface(IInterface owner, String descriptor) { this.owner = owner; }
    protected boolean onTransact(int code, Parcel data, Parcel reply, int flags) throws RemoteException { return false; }
    @Override public IInterface queryLocalInterface(String descriptor) { return owner; }
    @Override public void linkToDeath(DeathRecipient recipient, int flags) {}
    @Override public boolean isBinderAlive() { return true; }
}
