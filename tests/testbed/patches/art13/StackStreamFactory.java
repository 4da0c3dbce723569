package java.lang;

import dalvik.annotation.optimization.FastNative;

/** libart 13 registers the natives of StackWalker's implementation. */
final class StackStreamFactory {
    @FastNative private static native Object nativeGetStackAnchor();

    @FastNative
    private static native int nativeFetchStackFrameInfo(
            long mode, Object anchor, int frames, int start, int batch, Object[] buffer);

    private StackStreamFactory() {}
}
