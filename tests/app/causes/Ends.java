package causes;

import android.system.Os;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.InputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;

/**
 * Main waits for the other end of something: a child process, a pipe, a server, a disk, a daemon of the
 * runtime.
 */
final class Ends {
    private static final int LONG_MS = 600_000;

    private Ends() {}

    /** The scenario of this name; null for any other name. */
    static Runnable of(String what) {
        return switch (what) {
            case "child" -> new Hang(Backup::compress);
            case "shell" -> new Hang(Device::properties);
            case "pipe" -> new Hang(Helper::answer);
            case "connect" -> new Hang(Account::connect);
            case "datagram" -> new Hang(Account::discover);
            case "select" -> new Hang(Account::pump);
            case "sync" -> new Hang(Journal::commit);
            case "finalizers" -> {
                // Not in the message that hangs: a collection takes seconds on a loaded machine.
                Bitmaps.leave();
                Runtime.getRuntime().gc();
                yield new Hang(Bitmaps::release);
            }
            default -> null;
        };
    }

    /** Runs a program to its end. */
    static final class Backup {
        static void compress() throws Exception {
            new ProcessBuilder("/bin/sleep", "60").start().waitFor();
        }
    }

    /** Reads a program's output through a helper whose name does not show the purpose. */
    static final class Device {
        static int properties() throws Exception {
            return ShellUtils.exec("/bin/sleep", "60");
        }
    }

    /** A helper as apps have it. */
    static final class ShellUtils {
        static int exec(String... command) throws Exception {
            InputStream out = new ProcessBuilder(command).start().getInputStream();
            return out.read();
        }
    }

    /** A pipe whose other end is open but silent. */
    static final class Helper {
        static int answer() throws Exception {
            FileDescriptor[] ends = Os.pipe();
            return new FileInputStream(ends[0]).read();
        }
    }

    /** An account on another machine. */
    static final class Account {
        private static final InetAddress HERE = InetAddress.getLoopbackAddress();

        /** Connects to a server whose queue of connections is full. */
        static void connect() throws Exception {
            ServerSocket server = new ServerSocket(0, 1, HERE);
            List<Socket> waiting = new ArrayList<>();
            while (true) {
                Socket client = new Socket();
                client.connect(new InetSocketAddress(HERE, server.getLocalPort()), LONG_MS);
                waiting.add(client);
            }
        }

        static void discover() throws Exception {
            byte[] answer = new byte[64];
            new DatagramSocket(0, HERE).receive(new DatagramPacket(answer, answer.length));
        }

        static void pump() throws Exception {
            Selector.open().select();
        }
    }

    /** Writes each line to the disk before the next one. */
    static final class Journal {
        static void commit() throws Exception {
            File file = File.createTempFile("journal", null, new File(System.getProperty("causes.disk")));
            FileOutputStream out = new FileOutputStream(file);
            byte[] line = new byte[4096];
            while (true) {
                out.write(line);
                out.getFD().sync();
            }
        }
    }

    /** Waits for finalizers, one of which does not end. */
    static final class Bitmaps {
        static void release() {
            while (true) {
                System.runFinalization();
            }
        }

        static void leave() {
            new Pixels();
        }

        /** An object whose finalizer waits. */
        private static final class Pixels {
            @Override
            protected void finalize() {
                Causes.Work.sleep(LONG_MS);
            }
        }
    }
}
