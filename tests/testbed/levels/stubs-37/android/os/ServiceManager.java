package android.os;

import java.util.HashMap;
import java.util.Map;

/** The services that a test has made. */
public final class ServiceManager {
    static final Map<String, IBinder> SERVICES = new HashMap<String, IBinder>();

    private ServiceManager() {}

    public static IBinder getService(String name) {
        return SERVICES.get(name);
    }

    public static IBinder getServiceOrThrow(String name) throws ServiceNotFoundException {
        IBinder service = SERVICES.get(name);
        if (service == null) {
            throw new ServiceNotFoundException(name);
        }
        return service;
    }

    /** The platform's type, as far as a testbed needs it. */
    public static class ServiceNotFoundException extends Exception {
        public ServiceNotFoundException(String name) {
            super("No service published for: " + name);
        }
    }
}
