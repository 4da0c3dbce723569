package android.app;

import android.os.RemoteException;

/** The part of the system server's interface that warnings of ANRs need. */
public interface IActivityManager {
    void registerAnrWarningListener(IAnrWarningCallback callback) throws RemoteException;

    void unregisterAnrWarningListener(IAnrWarningCallback callback) throws RemoteException;
}
