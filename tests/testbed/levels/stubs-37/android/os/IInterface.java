package android.os;

/** As on a device. */
public interface IInterface {
    IBinder asBinder();
}
