package android.os;

/** Only its name is needed, by IMessenger. */
public class RemoteException extends Exception {}
