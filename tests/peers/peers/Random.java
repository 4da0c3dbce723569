package peers;

import java.io.DataInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.security.Provider;
import java.security.SecureRandomSpi;

/** Random numbers, which a device has from Conscrypt. */
final class Random extends Provider {
    Random() {
        super("kernel", 1.0, "the kernel's random numbers");
        put("SecureRandom.SHA1PRNG", Numbers.class.getName());
    }

    /** The security framework makes it by the name of its class. */
    public static final class Numbers extends SecureRandomSpi {
        @Override protected void engineSetSeed(byte[] seed) {}

        @Override protected void engineNextBytes(byte[] bytes) {
            try (DataInputStream kernel = new DataInputStream(new FileInputStream("/dev/urandom"))) {
                kernel.readFully(bytes);
            } catch (IOException gone) {
                throw new AssertionError(gone);
            }
        }

        @Override protected byte[] engineGenerateSeed(int count) {
            byte[] seed = new byte[count];
            engineNextBytes(seed);
            return seed;
        }
    }
}
