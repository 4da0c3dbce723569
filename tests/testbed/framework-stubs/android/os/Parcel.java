package android.os;

/** Messages never leave the process; only the signatures are needed. */
public final class Parcel {
    private Parcel() {}

    public static Parcel obtain() { return new Parcel(); }

    public <T extends Parcelable> T readParcelable(ClassLoader loader) { return null; }
    public <T> T readParcelable(ClassLoader loader, Class<T> type) { return null; }
    public void writeParcelable(Parcelable value, int flags) {}
    public int readInt() { return 0; }
    public void writeInt(int value) {}
    public long readLong() { return 0; }
    public void writeLong(long value) {}
    public Bundle readBundle() { return null; }
    public void writeBundle(Bundle value) {}
}
