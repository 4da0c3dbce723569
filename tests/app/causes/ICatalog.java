package causes;

import android.os.BinderProxy;
import android.os.Parcel;

/** A service of another process, as aidl writes it. */
interface ICatalog {
    int price(int item);

    /** The class that the service extends. */
    abstract class Stub {
        static ICatalog asInterface(BinderProxy remote) {
            return new Proxy(remote);
        }

        /** The object by which callers use the service. */
        private static final class Proxy implements ICatalog {
            private final BinderProxy remote;

            Proxy(BinderProxy remote) {
                this.remote = remote;
            }

            @Override
            public int price(int item) {
                Parcel data = Parcel.obtain();
                Parcel reply = Parcel.obtain();
                data.writeInt(item);
                remote.transact(1, data, reply, 0);
                return reply.readInt();
            }
        }
    }
}
