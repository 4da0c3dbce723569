// SPDX-License-Identifier: MIT OR Apache-2.0
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.net.StandardProtocolFamily;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.Permission;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.spi.ToolProvider;

/**
 * Runs compilers on request, in one process, so that the JVM loads and compiles their code once. The first
 * argument is the path of the socket. The second argument is the process id of the process for which the
 * compilers run. When that process ends, this process ends, too.
 *
 * <p>A request is a list of texts: the program, its class path, and its arguments. If the class path is
 * empty, the program is a tool of the JDK, otherwise a class with a {@code main}. The answer is the exit
 * code, standard output and standard error. Each text has its length before it.
 */
@SuppressWarnings("removal") // Of the SecurityManager. A JDK without it refuses to start this program.
final class WarmJvm {
    private static final int MOST_TEXTS = 1 << 16;

    /** Compilers recurse deeper than a thread's usual stack allows. */
    private static final long STACK_BYTES = 64L << 20;

    /** The output of the program that runs on this thread; threads that it starts have the same. */
    private static final InheritableThreadLocal<Run> RUN = new InheritableThreadLocal<>();

    private static final Map<String, ClassLoader> LOADERS = new HashMap<>();

    /**
     * Limits the programs that run at the same time to the number of processors. More programs would only
     * need more memory.
     */
    private static final Semaphore PROCESSORS = new Semaphore(Runtime.getRuntime().availableProcessors());

    private WarmJvm() {}

    public static void main(String[] arguments) throws IOException {
        System.setSecurityManager(new Exits());
        System.setOut(new Shared(false));
        System.setErr(new Shared(true));
        File socket = new File(arguments[0]);
        ProcessHandle.of(Long.parseLong(arguments[1])).orElseThrow().onExit().thenRun(() -> end(socket.getParentFile()));
        ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        server.bind(UnixDomainSocketAddress.of(arguments[0]));
        while (true) {
            SocketChannel client = server.accept();
            new Thread(null, () -> answer(client), "request", STACK_BYTES).start();
        }
    }

    /** Ends this process. Deletes its folder, which the process that it served leaves when it is killed. */
    private static void end(File folder) {
        File[] files = folder.listFiles();
        for (File file : files == null ? new File[0] : files) {
            file.delete();
        }
        folder.delete();
        Runtime.getRuntime().halt(0);
    }

    private static void answer(SocketChannel client) {
        try (client) {
            DataInputStream in = new DataInputStream(Channels.newInputStream(client));
            String[] texts = new String[Math.min(in.readInt(), MOST_TEXTS)];
            for (int at = 0; at < texts.length; at++) {
                texts[at] = new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
            }
            Run run = new Run();
            PROCESSORS.acquireUninterruptibly();
            int status;
            try {
                status = run.program(texts);
            } finally {
                PROCESSORS.release();
            }
            DataOutputStream out = new DataOutputStream(Channels.newOutputStream(client));
            out.writeInt(status);
            for (ByteArrayOutputStream printed : new ByteArrayOutputStream[] {run.out, run.err}) {
                out.writeInt(printed.size());
                printed.writeTo(out);
            }
            out.flush();
        } catch (IOException gone) {
            // The client runs the program itself, or needs it no more.
        }
    }

    private static synchronized ClassLoader loader(String classPath) throws IOException {
        ClassLoader known = LOADERS.get(classPath);
        if (known == null) {
            String[] paths = classPath.split(File.pathSeparator);
            URL[] urls = new URL[paths.length];
            for (int at = 0; at < paths.length; at++) {
                urls[at] = new File(paths[at]).toURI().toURL();
            }
            known = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader());
            LOADERS.put(classPath, known);
        }
        return known;
    }

    /** One run of a program. */
    private static final class Run {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();

        /** Runs a program and returns its exit code. */
        int program(String[] texts) {
            String[] arguments = java.util.Arrays.copyOfRange(texts, 2, texts.length);
            RUN.set(this);
            try {
                if (texts[1].isEmpty()) {
                    PrintStream output = new PrintStream(out, true);
                    PrintStream errors = new PrintStream(err, true);
                    return ToolProvider.findFirst(texts[0]).orElseThrow().run(output, errors, arguments);
                }
                ClassLoader loader = loader(texts[1]);
                Thread.currentThread().setContextClassLoader(loader);
                loader.loadClass(texts[0]).getMethod("main", String[].class).invoke(null, (Object) arguments);
                return 0;
            } catch (Throwable thrown) {
                Throwable fault = thrown instanceof InvocationTargetException ? thrown.getCause() : thrown;
                if (fault instanceof Exit) {
                    return ((Exit) fault).status;
                }
                fault.printStackTrace(new PrintStream(err, true));
                return 1;
            } finally {
                RUN.remove();
            }
        }
    }

    /** Thrown in a program that calls {@link System#exit}, so that the process goes on. */
    private static final class Exit extends SecurityException {
        final int status;

        Exit(int status) {
            this.status = status;
        }
    }

    /** Allows programs everything but to end the process. */
    private static final class Exits extends SecurityManager {
        @Override
        public void checkPermission(Permission permission) {}

        @Override
        public void checkPermission(Permission permission, Object context) {}

        @Override
        public void checkExit(int status) {
            if (RUN.get() != null) {
                throw new Exit(status);
            }
        }
    }

    /** Standard output or standard error of all programs: one that closes it does not close it for others. */
    private static final class Shared extends PrintStream {
        Shared(boolean isError) {
            super(new Redirected(isError), true);
        }

        @Override
        public void close() {
            flush();
        }
    }

    /** Adds output to the {@link Run} of the thread that prints it. Output of other threads is dropped. */
    private static final class Redirected extends OutputStream {
        private final boolean isError;

        Redirected(boolean isError) {
            this.isError = isError;
        }

        @Override
        public void write(int one) {
            write(new byte[] {(byte) one}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            Run run = RUN.get();
            if (run != null) {
                (isError ? run.err : run.out).write(bytes, offset, length);
            }
        }
    }
}
