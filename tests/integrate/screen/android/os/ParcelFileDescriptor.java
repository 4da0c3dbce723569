package android.os;

import java.io.File;

/** The file, and how it may be used. */
public class ParcelFileDescriptor {
    public final File file;
    public final int mode;

    private ParcelFileDescriptor(File file, int mode) {
        this.file = file;
        this.mode = mode;
    }

    public static ParcelFileDescriptor open(File file, int mode) {
        return new ParcelFileDescriptor(file, mode);
    }
}
