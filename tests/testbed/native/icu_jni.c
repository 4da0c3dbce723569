// From 11 on, ART loads the natives of AOSP's ICU4J at start. There is no ICU4J on a testbed, so there are none.
#include <jni.h>

jint JNI_OnLoad(JavaVM* vm, void* reserved) {
    (void)vm;
    (void)reserved;
    return JNI_VERSION_1_6;
}
