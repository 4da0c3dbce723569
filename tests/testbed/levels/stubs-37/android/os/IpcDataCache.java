package android.os;

/** A cache that is never asked. */
public class IpcDataCache<Query, Result> {
    /** As on a device. */
    public abstract static class QueryHandler<Q, R> {
        public abstract R apply(Q query);
    }

    public IpcDataCache(int entries, String module, String api, String name, QueryHandler<Query, Result> computer) {}
}
