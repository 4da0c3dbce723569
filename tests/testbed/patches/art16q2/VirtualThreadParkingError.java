package dalvik.system;

/** libart knows this class by its name. */
public class VirtualThreadParkingError {}
