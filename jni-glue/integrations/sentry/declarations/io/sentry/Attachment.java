package io.sentry;

/** Declares this class of sentry-java 6 and newer. */
public final class Attachment {
    private final byte[] bytes;
    private final String filename;

    public Attachment(byte[] bytes, String filename, String contentType) {
        this.bytes = bytes;
        this.filename = filename;
    }

    public byte[] getBytes() {
        return bytes;
    }

    public String getFilename() {
        return filename;
    }
}
