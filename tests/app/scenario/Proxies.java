package scenario;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;

/** Makes very many proxies of one class. Argument: how many. */
public final class Proxies {
    private Proxies() {}

    public static void main(String[] arguments) {
        InvocationHandler handler = (proxy, method, values) -> null;
        Class<?>[] types = {Runnable.class};
        int made = 0;
        while (made < Integer.parseInt(arguments[0])) {
            ((Runnable) Proxy.newProxyInstance(Proxies.class.getClassLoader(), types, handler)).run();
            made++;
        }
        Script.say("made " + made);
        Runtime.getRuntime().halt(0);
    }
}
