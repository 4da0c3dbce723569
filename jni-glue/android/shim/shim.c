/*
 * The functions of Android's C library that glibc has otherwise: other structures, other numbers, other names.
 *
 * With these and jumps for the rest (`plain.txt`) the very libloopbox.so that ships runs in a Linux process. The
 * structures are bionic's of 64-bit processes (its headers signal.h, pthread_types.h and sysconf.h). Code that the
 * library does not import is left out by the linker.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int *shim___errno(void) { return __errno_location(); }

/* bionic's strerror_r is the one of POSIX. */
int __xpg_strerror_r(int error, char *text, size_t size);
int shim_strerror_r(int error, char *text, size_t size) { return __xpg_strerror_r(error, text, size); }

int shim___android_log_write(int priority, const char *tag, const char *text) {
    return fprintf(stderr, "log %d/%s: %s\n", priority, tag, text);
}

/* A device without properties. */
int shim___system_property_get(const char *name, char *value) {
    (void)name;
    value[0] = 0;
    return 0;
}

/* The numbers of bionic's bits/sysconf.h that std and the recorder ask for. */
long shim_sysconf(int name) {
    switch (name) {
    case 0x0006: return sysconf(_SC_CLK_TCK);
    case 0x0027: /* _SC_PAGESIZE */
    case 0x0028: return sysconf(_SC_PAGESIZE);
    case 0x0048: return sysconf(_SC_GETPW_R_SIZE_MAX);
    case 0x004b: return sysconf(_SC_THREAD_STACK_MIN);
    case 0x0060: return sysconf(_SC_NPROCESSORS_CONF);
    case 0x0061: return sysconf(_SC_NPROCESSORS_ONLN);
    case 0x0062: return sysconf(_SC_PHYS_PAGES);
    default:
        fprintf(stderr, "shim: sysconf(%#x) has no translation\n", name);
        errno = EINVAL;
        return -1;
    }
}

/* A signal set has 64 bits in bionic and 1024 in glibc. */
typedef uint64_t set64;

static void widen(const set64 *from, sigset_t *to) {
    sigemptyset(to);
    memcpy(to, from, sizeof *from);
}

/* struct sigaction of 64-bit bionic. */
struct action64 {
    int flags;
    void *handler;
    set64 mask;
    void (*restorer)(void);
};

int shim_sigaction(int signal, const struct action64 *new, struct action64 *old) {
    struct sigaction wide, wide_old;
    if (new) {
        memset(&wide, 0, sizeof wide);
        wide.sa_handler = (void (*)(int))new->handler;
        wide.sa_flags = new->flags;
        widen(&new->mask, &wide.sa_mask);
    }
    int result = sigaction(signal, new ? &wide : NULL, &wide_old);
    if (!result && old) {
        memset(old, 0, sizeof *old);
        old->handler = (void *)wide_old.sa_handler;
        old->flags = wide_old.sa_flags;
        memcpy(&old->mask, &wide_old.sa_mask, sizeof old->mask);
    }
    return result;
}

/* SigchainAction of ART's libsigchain, which has a set of bionic's kind on Android and one of glibc's here. */
struct chain_action64 {
    void *handler;
    set64 mask;
    uint64_t flags;
};

static void add_special(int signal, const struct chain_action64 *action) {
    struct {
        void *handler;
        sigset_t mask;
        uint64_t flags;
    } wide = {action->handler, {{0}}, action->flags};
    widen(&action->mask, &wide.mask);
    void (*add)(int, void *) = (void (*)(int, void *))dlsym(RTLD_DEFAULT, "AddSpecialSignalHandlerFn");
    add(signal, &wide);
}

/* The functions of ART are the same, but for that one. */
void *shim_dlsym(void *library, const char *name) {
    void *found = dlsym(library, name);
    return found && !strcmp(name, "AddSpecialSignalHandlerFn") ? (void *)add_special : found;
}

/* pthread_attr_t has 56 bytes in bionic and up to 64 in glibc. Only the stack size is ever set. */
struct attr64 {
    uint64_t stack_size;
    uint64_t other[6];
};

int shim_pthread_attr_init(struct attr64 *attr) {
    memset(attr, 0, sizeof *attr);
    return 0;
}

int shim_pthread_attr_destroy(struct attr64 *attr) {
    (void)attr;
    return 0;
}

int shim_pthread_attr_setstacksize(struct attr64 *attr, size_t size) {
    if (size < 16384) return EINVAL;
    attr->stack_size = size;
    return 0;
}

/* A process in which other libraries have left this many keys for this one. */
int shim_pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    static _Atomic int made;
    const char *left = getenv("SHIM_PTHREAD_KEYS");
    if (left && made++ >= atoi(left)) return EAGAIN;
    return pthread_key_create(key, destructor);
}

int shim_pthread_create(pthread_t *thread, const struct attr64 *attr, void *(*start)(void *), void *argument) {
    pthread_attr_t wide;
    int error = pthread_attr_init(&wide);
    if (error) return error;
    if (attr && attr->stack_size) {
        size_t least = sysconf(_SC_THREAD_STACK_MIN);
        error = pthread_attr_setstacksize(&wide, attr->stack_size < least ? least : attr->stack_size);
    }
    if (!error) error = pthread_create(thread, &wide, start, argument);
    pthread_attr_destroy(&wide);
    return error;
}
