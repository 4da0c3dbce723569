// NativeBN is not built (it needs BoringSSL), so there is nothing to register.
#include <jni.h>

void register_java_math_NativeBN(JNIEnv*) {}
