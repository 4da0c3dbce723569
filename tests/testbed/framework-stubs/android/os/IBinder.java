package android.os;

/** Every call comes from this process. */
public interface IBinder {
    /** The platform's type, as far as a testbed needs it. */
    interface DeathRecipient {
        void binderDied();
    }

    void linkToDeath(DeathRecipient recipient, int flags) throws RemoteException;

    boolean isBinderAlive();

    IInterface queryLocalInterface(String descriptor);
}
