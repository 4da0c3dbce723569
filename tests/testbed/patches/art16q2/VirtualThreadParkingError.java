package dalvik.system;

/** Known to libart by name. */
public class VirtualThreadParkingError {}
