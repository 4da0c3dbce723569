package android.os;

/** A cache that is never asked. */
public class IpcDataCache<Query, Result> {
    /** The platform's type, as far as a testbed needs it. */
    public abstract static class QueryHandler<Q, R> {
        public abstract R apply(Q query);
    }

    public IpcDataCache(int entries, String module, String api, String name, QueryHandler<Query, Result> computer) {}
}
