package android.os;

/** There is no other process to bind to; Service.onBind needs the type. */
public interface IBinder {}
