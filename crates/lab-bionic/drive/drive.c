/* Runs libloopbox.so in a process that is no Android app, through its natives as the Java half calls them.
 *
 * usage: drive LIBLOOPBOX LIBART DIR SCENARIO
 *
 * whole   from load to uninstall: messages, a dump, SIGQUIT and its hand-on, a hang
 * apart   the same on Android, with the library in an isolated namespace of the linker and libart in the default one, as in an app
 * memory  fills a heap in a message until that is reported as a hang
 * hold    stays in a message until it is killed; prints `holds` first
 * crash   notes a crash in a message, as a crash handler does, and goes
 * next    the launch after one of those two: is notified of what it left
 * stale   reads memory that it has given back, and says so: memory tagging ends the process before. No library is loaded
 *
 * Each thing that must hold is a line, `ok` or `WRONG` with words; the exit code is how many were wrong. */
#include "chain.h"
#include "numbers.h"
#include "vm.h"

#define LIMIT_MS 120000
#define PAUSE_US 10000
#define HANG_AFTER_MS 1500
#define MESSAGES 100000
#define HEAP_BYTES (256 << 20)
#define PAGE_BYTES 4096

static const struct vm *vm;
static const char *folder;
static signals quit;
static volatile int is_waiting, caught, earlier;
static int wrong;

/* Why reports were written, in the order in which the driver was notified, and how many of them were checked. */
#define MAX_HEARD 32
static char heard[MAX_HEARD][32];
static volatile int heard_count;
static int seen;
static const char *wanted;

#define SAY(...) (printf(__VA_ARGS__), fflush(0))

static int is(int holds, const char *what) {
    SAY("%s %s\n", holds ? "ok" : "WRONG", what);
    wrong += !holds;
    return holds;
}

static i64 now_ms(void) {
    long time[2];
    clock_gettime(CLOCK_MONOTONIC, time);
    return (i64)time[0] * 1000 + time[1] / 1000000;
}

/* Until something holds, or so much time has passed that it never will. */
static int until(int (*holds)(void)) {
    for (i64 end = now_ms() + LIMIT_MS; now_ms() < end; usleep(PAUSE_US))
        if (holds()) return 1;
    return 0;
}

/* ART's thread, as far as the recorder sees it: it waits for SIGQUIT, which is blocked everywhere. */
static void *signal_catcher(void *none) {
    pthread_setname_np(pthread_self(), "Signal Catcher");
    is_waiting = 1;
    for (;;) {
        int number = 0;
        sigwait(&quit, &number);
        caught += number == SIGQUIT;
    }
    return 0;
}

static void earlier_handler(int number) { earlier++; }

static void listener(const char *path, const char *why, const char *digest) {
    if (heard_count == MAX_HEARD) return;
    SAY("report %s %s\n", why, path);
    snprintf(heard[heard_count], sizeof *heard, "%s", access(path, 0) ? "no file" : why);
    heard_count++;
}

/* Whether a folder has an entry in which the text is. */
static int has(const char *where, const char *text, int (*check)(const char *where, const char *name, const char *text)) {
    void *open_folder = opendir(where);
    int found = 0;
    for (struct entry *entry; open_folder && (entry = readdir(open_folder));) found |= check(where, entry->name, text);
    if (open_folder) closedir(open_folder);
    return found;
}

static int in_name(const char *where, const char *name, const char *text) { return !!strstr(name, text); }

static int in_thread(const char *where, const char *name, const char *text) {
    char path[300], comm[32] = {0};
    snprintf(path, sizeof path, "%s/%s/comm", where, name);
    int file = open(path, 0);
    if (file < 0) return 0;
    read(file, comm, sizeof comm - 1);
    close(file);
    return !!strstr(comm, text);
}

/* Not one that is being made, which ends in `.new`. */
static int at_end(const char *where, const char *name, const char *text) {
    const char *end = strstr(name, text);
    return end && !end[strlen(text)];
}

static int has_ring(void) { return has(folder, ".lbr", at_end); }
static int has_no_ring(void) { return !has(folder, ".lbr", in_name); }
static int has_no_threads(void) { return !has("/proc/self/task", "loopbox", in_thread); }
static int has_heard(void) {
    while (seen < heard_count)
        if (!strcmp(heard[seen++], wanted)) return 1;
    return 0;
}
static int has_signal_catcher(void) { return is_waiting; }
static int has_caught(void) { return caught > 0; }
static int has_caught_twice(void) { return caught > 1; }

/* There is a report for this reason, after those before; others may be between them, as the end of a hang. */
static void is_reported(const char *why, const char *what) {
    wanted = why;
    is(until(has_heard), what);
}

static int (*begin)(void *, void *);
static int (*end)(void *, void *, i64, u8);

static int install(int api_level) {
    i64 numbers[sizeof DEFAULTS / sizeof *DEFAULTS];
    memcpy(numbers, DEFAULTS, sizeof DEFAULTS);
    numbers[API_LEVEL] = api_level;
    numbers[HANG_MS] = HANG_AFTER_MS;
    /* There is no queue of Java's. */
    numbers[MAY_REFLECT] = 0;
    const char *const texts[] = {folder, "1.0 (1)", ""};
    void *(*install)(void *, void *, void *, void *) = vm->native("install");
    void (*set_hook)(void *, void *, u8, void *) = vm->native("setHook");
    void *refusal = install(vm->environment(), 0, vm->longs(numbers, (int)(sizeof numbers / sizeof *numbers)), vm->texts(texts, 3));
    if (!is(!refusal, "installed")) SAY("%s\n", vm->ascii(refusal));
    set_hook(vm->environment(), 0, 1, vm->text("drive"));
    is(until(has_ring), "a ring on the disk");
    return !wrong;
}

static void whole(void) {
    void *env = vm->environment();
    int (*begin_critical)(void) = vm->native("beginCritical");
    int (*end_critical)(i64, u8) = vm->native("endCritical");
    void (*describe)(void *, void *, void *, void *, int) = vm->native("describe");
    void *(*dump)(void *, void *, void *, i64) = vm->native("dump");
    void *(*features)(void *, void *) = vm->native("features");
    void (*uninstall)(void *, void *) = vm->native("uninstall");
    void (*leave)(void *, void *) = vm->native("leave");
    int named = 0;
    for (int at = 0; at < MESSAGES; at++) {
        if (at % 2) {
            begin(env, 0);
            end(env, 0, -1, 0);
            continue;
        }
        begin_critical();
        if (at % (MESSAGES / 4) == 0) usleep(60000);
        if (end_critical(-1, 0) & 1) {
            named++;
            describe(env, 0, vm->text("com.example.Handler"), vm->text("com.example.Job"), 7);
        }
    }
    is(named >= 4, "messages, and the long ones by name");
    void *path = dump(env, 0, vm->text("asked"), LIMIT_MS);
    is(path && !access(vm->ascii(path), 0), "a report that was asked for");

    begin(env, 0);
    usleep(300000);
    kill(getpid(), SIGQUIT);
    is_reported("sigquit", "a report of SIGQUIT");
    is(until(has_caught) && caught == 1, "SIGQUIT is handed on to the Signal Catcher, once");
    is(earlier == 1, "and to the handler that was there before, once");
    is(!chain_has_gone_on(), "which the signal chain has no part in");
    end(env, 0, -1, 0);

    begin(env, 0);
    is_reported("hang", "a report of a hang while it lasts");
    end(env, 0, -1, 0);

    SAY("%s", vm->ascii(features(env, 0)));
    uninstall(env, 0);
    is(until(has_no_threads), "no thread is left");
    is(until(has_no_ring), "no ring is left");
    /* What is the main thread's, which this one is. */
    leave(env, 0);
    signals mask = {0};
    pthread_sigmask(SIG_BLOCK, 0, &mask);
    is(sigismember(&mask, SIGQUIT), "SIGQUIT is blocked again");
    kill(getpid(), SIGQUIT);
    is(until(has_caught_twice), "and goes to the Signal Catcher alone");
}

/* As much as the kernel lets it at once. A page is a fault when it is touched first. */
static void memory(void) {
    volatile u8 *heap = malloc(HEAP_BYTES);
    void *env = vm->environment();
    begin(env, 0);
    wanted = "hang";
    int reported = 0;
    word at = 0;
    for (i64 last = now_ms() + LIMIT_MS; !(reported = has_heard()) && now_ms() < last; at = (at + PAGE_BYTES) % HEAP_BYTES)
        heap[at]++;
    is(reported, "a report of a hang in which memory is filled");
    end(env, 0, -1, 0);
}

static int stale(void) {
    volatile u8 *block = malloc(64);
    *block = 1;
    free((void *)block);
    SAY("has read %d\n", *block);
    return 0;
}

#ifdef __ANDROID__
/* From API level 26 on; a class loader makes such a namespace for an app's libraries. */
static void *load_apart(const char *path) {
    const char *const homes[] = {"libdl_android.so", "libdl.so"};
    void *(*create)(const char *, const char *, const char *, i64, const char *, void *) = 0;
    u8 (*link)(void *, void *, const char *) = 0;
    void *(*load)(const char *, int, const struct in_namespace *) = 0;
    for (int at = 0; at < 2; at++) {
        void *home = dlopen(homes[at], RTLD_NOW);
        if (!home) continue;
        if (!create) create = dlsym(home, "android_create_namespace");
        if (!link) link = dlsym(home, "android_link_namespaces");
        if (!load) load = dlsym(home, "android_dlopen_ext");
    }
    if (!is(create && link && load, "the linker has namespaces")) return 0;
    void *namespace = create("app", 0, "/data/app", ISOLATED, "/data", 0);
    if (!is(namespace && link(namespace, 0, "libc.so:libm.so:libdl.so:liblog.so"), "one with the public libraries only")) return 0;
    const struct in_namespace where = {.flags = USE_NAMESPACE, .namespace = namespace};
    if (!is(!!dlopen(NOT_PUBLIC, RTLD_NOW) && !load(NOT_PUBLIC, RTLD_NOW, &where), "and no other library of the system")) return 0;
    return load(path, RTLD_NOW, &where);
}
#else
static void *load_apart(const char *path) { return 0; }
#endif

int main(int count, char **words) {
    if (count != 5) return 64;
    const char *scenario = words[4];
    if (!strcmp(scenario, "stale")) return stale();
    folder = words[3];
    int is_apart = !strcmp(scenario, "apart");
    void *library = is_apart ? load_apart(words[1]) : dlopen(words[1], RTLD_NOW);
    if (!is(!!library, "the library is loaded, with every symbol")) {
        SAY("%s\n", dlerror());
        return wrong;
    }
    int (*on_load)(void *, void *) = dlsym(library, "JNI_OnLoad");
    void (*mark_crash)(int) = dlsym(library, "loopbox_mark_crash");
    void (*on_report)(void (*)(const char *, const char *, const char *)) = dlsym(library, "loopbox_on_report");
    void *art = dlopen(words[2], RTLD_NOW);
    vm = art ? dlsym(art, "stand_in") : 0;
    if (!is(on_load && mark_crash && on_report && vm, "its functions, and the substitute's")) return wrong;
    mark_crash(11);
    is(1, "a crash mark before anything records is nothing");
    on_report(listener);

    sigemptyset(&quit);
    sigaddset(&quit, SIGQUIT);
    pthread_sigmask(SIG_BLOCK, &quit, 0);
    long thread;
    pthread_create(&thread, 0, signal_catcher, 0);
    /* ART's is there before any code of an app. */
    until(has_signal_catcher);
    signals action = {0};
    action.words[HANDLER] = (long)earlier_handler;
    chain_sigaction(SIGQUIT, &action, 0);

    is(on_load(vm->java_vm(), 0) == 0x10006, "JNI_OnLoad");
    begin = vm->native("begin");
    end = vm->native("end");
    if (!is(begin && end, "native methods are registered") || !install(29)) return wrong;
    if (is_apart || !strcmp(scenario, "whole")) whole();
    if (!strcmp(scenario, "memory")) memory();
    if (!strcmp(scenario, "next")) is_reported("recovered", "a report of the process before");
    if (!strcmp(scenario, "hold") || !strcmp(scenario, "crash")) {
        begin(vm->environment(), 0);
        SAY("holds\n");
        if (!strcmp(scenario, "crash")) {
            usleep(100000);
            mark_crash(11);
            SAY("crashes\n");
            _exit(0);
        }
        for (;;) usleep(1000000);
    }
    return wrong;
}
