package android.os;

/** Generated from AIDL in AOSP; a local interface here. */
interface IMessenger {
    void send(Message message) throws RemoteException;

    abstract class Stub implements IMessenger {}
}
