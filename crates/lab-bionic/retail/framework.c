/* The native half of the testbeds' framework classes on a retail runtime, as far as the scripted demo uses it: a queue that waits for one
 * descriptor, a display that never refreshes, and the door of the substitutes. `Boot.java` loads it before the first Looper. */
#include "../drive/libc.h"

#define OUTSIDE __attribute__((visibility("default")))
/* Places in JNI's tables of functions. */
#define FIND_CLASS 6
#define GET_STRING_UTF_CHARS 169
#define RELEASE_STRING_UTF_CHARS 170
#define REGISTER_NATIVES 215
#define GET_ENV 6
#define JNI_VERSION_1_6 0x10006
#define NON_BLOCKING 04000
#define READABLE 1
#define PERIOD_NS 16666667
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define CALL(object, place, type) ((type)((*(void ***)(object))[place]))

extern int eventfd(unsigned, int), poll(void *, word, int), gettid(void);
extern long write(int, const void *, word);

struct waited {
    int file;
    short events, came;
};
struct native {
    const char *name, *signature;
    void *function;
};

static i64 queue_init(void *env, void *class) {
    struct waited *queue = calloc(1, sizeof *queue);
    queue->file = eventfd(0, NON_BLOCKING);
    queue->events = READABLE;
    return (word)queue;
}
static void queue_destroy(void *env, void *class, i64 pointer) {}
static void queue_poll(void *env, void *object, i64 pointer, int timeout_ms) {
    /* Several threads may be asked to wake one queue; one waits. */
    struct waited *queue = (void *)(word)pointer;
    i64 count;
    poll(queue, 1, timeout_ms);
    read(queue->file, &count, sizeof count);
}
static void queue_wake(void *env, void *class, i64 pointer) {
    i64 one = 1;
    write(((struct waited *)(word)pointer)->file, &one, sizeof one);
}
static u8 queue_is_polling(void *env, void *class, i64 pointer) { return 0; }
static void queue_watch(void *env, void *class, i64 pointer, int file, int events) {}

static i64 display_init(void *env, void *class, void *receiver, void *queue, int source, int config) { return 1; }
static void display_nothing(void *env, void *class, i64 pointer) {}
static i64 display_period(void *env, void *class) { return PERIOD_NS; }

static void door_log(void *env, void *class, void *line) {
    const char *text = CALL(env, GET_STRING_UTF_CHARS, const char *(*)(void *, void *, void *))(env, line, 0);
    printf("%s\n", text);
    fflush(0);
    CALL(env, RELEASE_STRING_UTF_CHARS, void (*)(void *, void *, const char *))(env, line, text);
}
static int door_gettid(void *env, void *class) { return gettid(); }

static const struct native queue[] = {
    {"nativeInit", "()J", queue_init},
    {"nativeDestroy", "(J)V", queue_destroy},
    {"nativePollOnce", "(JI)V", queue_poll},
    {"nativeWake", "(J)V", queue_wake},
    {"nativeIsPolling", "(J)Z", queue_is_polling},
    {"nativeSetFileDescriptorEvents", "(JII)V", queue_watch},
};
static const struct native display[] = {
    {"nativeInit", "(Ljava/lang/ref/WeakReference;Landroid/os/MessageQueue;II)J", display_init},
    {"nativeDispose", "(J)V", display_nothing},
    {"nativeScheduleVsync", "(J)V", display_nothing},
};
static const struct native vsync[] = {
    {"periodNanos", "()J", display_period},
};
static const struct native door[] = {
    {"log", "(Ljava/lang/String;)V", door_log},
    {"gettid", "()I", door_gettid},
};

static int register_natives(void *env, const char *name, const struct native *natives, int count) {
    void *class = CALL(env, FIND_CLASS, void *(*)(void *, const char *))(env, name);
    int (*add)(void *, void *, const struct native *, int) = CALL(env, REGISTER_NATIVES, void *);
    if (class && !add(env, class, natives, count)) return 1;
    printf("no natives for %s\n", name);
    return 0;
}

OUTSIDE int JNI_OnLoad(void *vm, void *reserved) {
    void *env;
    if (CALL(vm, GET_ENV, int (*)(void *, void **, int))(vm, &env, JNI_VERSION_1_6)) return -1;
    int good = register_natives(env, "android/os/MessageQueue", queue, COUNT(queue)) &
               register_natives(env, "android/view/DisplayEventReceiver", display, COUNT(display)) &
               register_natives(env, "android/view/TestVsync", vsync, COUNT(vsync)) &
               register_natives(env, "android/os/BedNative", door, COUNT(door));
    return good ? JNI_VERSION_1_6 : -1;
}
