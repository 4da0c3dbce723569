package integrate;

import io.loopbox.integration.upload.Uploader;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.util.Arrays;

/** Uploads files: the server's URL, how many bytes at most, then the files. */
public final class Upload {
    private Upload() {}

    public static void main(String[] arguments) throws Exception {
        File[] files = new File[arguments.length - 2];
        for (int at = 0; at < files.length; at++) {
            files[at] = new File(arguments[at + 2]);
        }
        Uploader uploader = new Uploader(new URL(arguments[0]), Long.parseLong(arguments[1]));
        try {
            System.out.println("sent " + uploader.send(Arrays.asList(files)));
        } catch (IOException failed) {
            System.out.println("failed: " + failed.getMessage());
        }
    }
}
