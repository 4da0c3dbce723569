// The JVM_* functions that libcore's libopenjdk expects of its virtual machine. In AOSP they are ART's
// libopenjdkjvm, which Debian does not ship. What the virtual machine has to answer is asked through JNI.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <jni.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <string>

namespace {

// The -Xmx that the testbeds run with; ART tells its limits to C++ callers only.
constexpr jlong kHeapLimit = jlong{TESTBED_HEAP_MIB} << 20;

constexpr int kDeleteOnClose = 0x10000;  // JVM_O_DELETE: not a flag of open(2)
constexpr jint kFileExists = -100;       // JVM_EEXIST

// A function of libart, which is loaded already. libnativehelper exports some of the same names, so that the
// global scope would not do.
void* FromArt(const char* symbol) {
    // Debian's name, and AOSP's.
    static void* const debian = dlopen("libart.so.0", RTLD_NOW | RTLD_NOLOAD);
    static void* const libart = debian != nullptr ? debian : dlopen("libart.so", RTLD_NOW | RTLD_NOLOAD);
    return libart == nullptr ? nullptr : dlsym(libart, symbol);
}

JNIEnv* CurrentEnv() {
    using GetCreated = jint (*)(JavaVM**, jsize, jsize*);
    static const auto get_created = reinterpret_cast<GetCreated>(FromArt("JNI_GetCreatedJavaVMs"));
    JavaVM* vm = nullptr;
    jsize count = 0;
    JNIEnv* env = nullptr;
    if (get_created == nullptr || get_created(&vm, 1, &count) != JNI_OK || count == 0) return nullptr;
    if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_6) != JNI_OK) return nullptr;
    return env;
}

// One of VMDebug's counters, for example "art.gc.bytes-allocated"; 0 when there is no such counter.
jlong RuntimeStat(JNIEnv* env, const char* name) {
    if (env->PushLocalFrame(8) != JNI_OK) return 0;
    jclass debug = env->FindClass("dalvik/system/VMDebug");
    jmethodID get = debug == nullptr
            ? nullptr
            : env->GetStaticMethodID(debug, "getRuntimeStat", "(Ljava/lang/String;)Ljava/lang/String;");
    jstring key = get == nullptr ? nullptr : env->NewStringUTF(name);
    auto text = key == nullptr ? nullptr : static_cast<jstring>(env->CallStaticObjectMethod(debug, get, key));
    jlong value = 0;
    if (env->ExceptionCheck()) {
        env->ExceptionClear();
    } else if (text != nullptr) {
        const char* digits = env->GetStringUTFChars(text, nullptr);
        if (digits != nullptr) {
            value = atoll(digits);
            env->ReleaseStringUTFChars(text, digits);
        }
    }
    env->PopLocalFrame(nullptr);
    return value;
}

// Asks the runtime's own heap thread for a collection and waits for its end, at most two seconds: the one request
// that every ART from 10 to 14 has (dalvik.system.VMRuntime.requestConcurrentGC).
void CollectOnce(JNIEnv* env, jclass runtime, jobject instance) {
    jmethodID request = env->GetMethodID(runtime, "requestConcurrentGC", "()V");
    if (request == nullptr) return;
    const jlong before = RuntimeStat(env, "art.gc.gc-count");
    env->CallVoidMethod(instance, request);
    for (int wait = 0; wait < 2000 && RuntimeStat(env, "art.gc.gc-count") == before; ++wait) usleep(1000);
}

// Collects all garbage. The first collection may be one that was running before the garbage was made; the second
// is not.
void Collect(JNIEnv* env) {
    if (env->PushLocalFrame(16) != JNI_OK) return;
    jclass runtime = env->FindClass("dalvik/system/VMRuntime");
    jmethodID get = runtime == nullptr
            ? nullptr
            : env->GetStaticMethodID(runtime, "getRuntime", "()Ldalvik/system/VMRuntime;");
    jobject instance = get == nullptr ? nullptr : env->CallStaticObjectMethod(runtime, get);
    for (int times = 0; times < 2 && instance != nullptr; ++times) CollectOnce(env, runtime, instance);
    if (env->ExceptionCheck()) env->ExceptionClear();
    env->PopLocalFrame(nullptr);
}

using LoadLibrary = bool (*)(void* vm, JNIEnv*, const std::string& path, jobject loader, jclass caller,
                             std::string* error);
constexpr char kLoadLibrary[] =
        "_ZN3art9JavaVMExt17LoadNativeLibraryEP7_JNIEnvRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
        "P8_jobjectP7_jclassPS8_";

// A std::string of libc++ (little endian, the default layout): a long one has the lowest bit of its first word set; a
// short one has twice its length in the first byte, and its characters behind it.
struct LibcxxString {
    size_t capacity_and_long;
    size_t length;
    const char* characters;

    const char* c_str() const {
        return (capacity_and_long & 1) != 0 ? characters : reinterpret_cast<const char*>(this) + 1;
    }
};
static_assert(sizeof(LibcxxString) == 3 * sizeof(void*), "as libc++ has it");

// The same function of a runtime that was built with libc++.
using LoadLibraryLibcxx = bool (*)(void* vm, JNIEnv*, const LibcxxString& path, jobject loader, jclass caller,
                                   LibcxxString* error);
constexpr char kLoadLibraryLibcxx[] =
        "_ZN3art9JavaVMExt17LoadNativeLibraryEP7_JNIEnv"
        "RKNSt3__112basic_stringIcNS3_11char_traitsIcEENS3_9allocatorIcEEEE"
        "P8_jobjectP7_jclassPS9_";

// The error that loading leaves; empty when there is none.
std::string Load(JNIEnv* env, JavaVM* vm, const std::string& path, jobject loader, jclass caller) {
    static const auto load = reinterpret_cast<LoadLibrary>(FromArt(kLoadLibrary));
    if (load != nullptr) {
        std::string error;
        return load(vm, env, path, loader, caller, &error) ? "" : error;
    }
    static const auto load_libcxx = reinterpret_cast<LoadLibraryLibcxx>(FromArt(kLoadLibraryLibcxx));
    if (load_libcxx == nullptr) return "libart has no JavaVMExt::LoadNativeLibrary";
    const LibcxxString given{(path.size() + 1) | 1, path.size(), path.c_str()};
    LibcxxString error{0, 0, nullptr};
    return load_libcxx(vm, env, given, loader, caller, &error) ? "" : error.c_str();
}

}  // namespace

extern "C" {

jstring JVM_NativeLoad(JNIEnv* env, jstring path, jobject loader, jclass caller) {
    const char* chars = env->GetStringUTFChars(path, nullptr);
    if (chars == nullptr) return nullptr;
    const std::string name(chars);
    env->ReleaseStringUTFChars(path, chars);
    JavaVM* vm = nullptr;
    env->GetJavaVM(&vm);
    const std::string error = Load(env, vm, name, loader, caller);
    if (error.empty()) return nullptr;
    env->ExceptionClear();
    return env->NewStringUTF(error.c_str());
}

void JVM_GC() {
    if (JNIEnv* env = CurrentEnv()) Collect(env);
}

jlong JVM_MaxMemory() { return kHeapLimit; }
jlong JVM_TotalMemory() { return kHeapLimit; }

jlong JVM_FreeMemory() {
    JNIEnv* env = CurrentEnv();
    if (env == nullptr) return kHeapLimit;
    const jlong used = RuntimeStat(env, "art.gc.bytes-allocated") - RuntimeStat(env, "art.gc.bytes-freed");
    return used < 0 || used > kHeapLimit ? 0 : kHeapLimit - used;
}

// Threads of the virtual machine go on, and use what exit(3) destroys: a collection that ran meanwhile read
// Locks::expected_mutexes_on_weak_ref_access_ after it was freed.
void JVM_Exit(jint code) {
    fflush(nullptr);
    _exit(code);
}

jlong JVM_CurrentTimeMillis(JNIEnv*, jclass) {
    timeval now;
    gettimeofday(&now, nullptr);
    return now.tv_sec * 1000LL + now.tv_usec / 1000;
}

void* JVM_FindLibraryEntry(void* handle, const char* name) { return dlsym(handle, name); }
jboolean JVM_IsNaN(jdouble number) { return number != number; }
jint JVM_InitializeSocketLibrary() { return 0; }
char* JVM_NativePath(char* path) { return path; }

jint JVM_GetLastErrorString(char* buffer, int length) {
    if (errno == 0 || length <= 0) return 0;
    return snprintf(buffer, length, "%s", strerror(errno));
}

jint JVM_Open(const char* path, jint flags, jint mode) {
    const int fd = open(path, flags & ~kDeleteOnClose, mode);
    if (fd < 0) return errno == EEXIST ? kFileExists : -1;
    if ((flags & kDeleteOnClose) != 0) unlink(path);
    return fd;
}

jint JVM_Close(jint fd) { return close(fd); }
jint JVM_Read(jint fd, char* buffer, jint length) { return read(fd, buffer, length); }
jint JVM_Write(jint fd, char* buffer, jint length) { return write(fd, buffer, length); }
jlong JVM_Lseek(jint fd, jlong offset, jint whence) { return lseek64(fd, offset, whence); }
jint JVM_Sync(jint fd) { return fsync(fd); }

void* JVM_RawMonitorCreate() {
    auto* mutex = new pthread_mutex_t;
    pthread_mutex_init(mutex, nullptr);
    return mutex;
}

void JVM_RawMonitorDestroy(void* monitor) {
    auto* mutex = static_cast<pthread_mutex_t*>(monitor);
    pthread_mutex_destroy(mutex);
    delete mutex;
}

jint JVM_RawMonitorEnter(void* monitor) { return pthread_mutex_lock(static_cast<pthread_mutex_t*>(monitor)); }
void JVM_RawMonitorExit(void* monitor) { pthread_mutex_unlock(static_cast<pthread_mutex_t*>(monitor)); }

int jio_snprintf(char* buffer, size_t length, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vsnprintf(buffer, length, format, arguments);
    va_end(arguments);
    return written;
}

int jio_fprintf(FILE* file, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int written = vfprintf(file, format, arguments);
    va_end(arguments);
    return written;
}

}  // extern "C"
