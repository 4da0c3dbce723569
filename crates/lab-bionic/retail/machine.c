/* Loaded before all else into a retail runtime of Android 5 under QEMU's user mode: what that has not, and the runtime asks for.
 *
 * Anonymous shared memory comes from a driver of Android's kernels; here it is a memfd. And the runtime takes the bounds of its first
 * thread's stack from /proc/self/maps, where the emulator shows its own stack. */
#include "../drive/libc.h"

#define OUTSIDE __attribute__((visibility("default")))
#define MEMFD_CREATE 385 /* arm */
#define CLOSE_ON_EXEC 1
#define STACK (8ul << 20)
#define PAGE 4096ul
/* More than the frames above the first call of this have. */
#define ABOVE (PAGE * 256)

extern long syscall(long, ...);
extern int ftruncate(int, long), gettid(void);

OUTSIDE int ashmem_create_region(const char *name, word size) {
    int file = syscall(MEMFD_CREATE, name ? name : "ashmem", CLOSE_ON_EXEC);
    return file >= 0 && ftruncate(file, size) ? -1 : file;
}
OUTSIDE int ashmem_set_prot_region(int file, int protection) { return 0; }
OUTSIDE int ashmem_pin_region(int file, word offset, word length) { return 0; }
OUTSIDE int ashmem_unpin_region(int file, word offset, word length) { return 0; }

static word lowest(void) {
    static word first;
    word here;
    if (!first) first = (((word)&here) & ~(PAGE - 1)) + ABOVE - STACK;
    return first;
}

OUTSIDE int pthread_attr_getstack(const word *attributes, word *base, word *size) {
    int is_first = gettid() == getpid();
    *base = is_first ? lowest() : attributes[1];
    *size = is_first ? STACK : attributes[2];
    return 0;
}

OUTSIDE int pthread_getattr_np(long thread, word *attributes) {
    static int (*real)(long, word *);
    if (!real) real = dlsym((void *)-2l, "pthread_getattr_np");
    int error = real(thread, attributes);
    if (gettid() != getpid()) return error;
    attributes[0] = 0;
    attributes[1] = lowest();
    attributes[2] = STACK;
    return 0;
}
