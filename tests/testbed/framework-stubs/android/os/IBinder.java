package android.os;

/** Nobody else is there to bind to; Service.onBind needs the type. */
public interface IBinder {}
