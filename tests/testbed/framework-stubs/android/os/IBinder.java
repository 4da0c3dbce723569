package android.os;

/** Every call comes from this process. */
public interface IBinder {
    /** As on a device. */
    interface DeathRecipient {
        void binderDied();
    }

    void linkToDeath(DeathRecipient recipient, int flags) throws RemoteException;

    boolean isBinderAlive();

    IInterface queryLocalInterface(String descriptor);
}
