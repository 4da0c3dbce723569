package android.os;

import java.io.Closeable;

/** Only its name is needed, by IProfilingService. */
public class ParcelFileDescriptor implements Closeable {
    @Override
    public void close() {}
}
