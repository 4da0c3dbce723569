/*
 * What an emulated Arm process misses of its machine. Loaded before everything else on testbeds of that architecture.
 *
 * - QEMU's user mode has no process_vm_readv. The recorder reads its own memory with it, because it answers EFAULT
 *   where a load would end the process. /proc/self/mem answers the same question: an emulated 64-bit process has its
 *   memory at the same addresses as the emulator, and one of 32 bits where the emulator is asked to put it.
 * - glibc refuses stacks below 128 KiB on arm64, where pages may be large; the runtime's thread pools ask for 64 KiB.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static long (*real_syscall)(long, ...);
static int (*real_setstack)(pthread_attr_t *, void *, size_t);
static int memory = -1;

/* Where the emulator has the process's address 0: its option -B in arch/arm.toml. */
#ifdef __arm__
#define BASE 0x100000000
#else
#define BASE 0
#endif

static ssize_t read_memory(void *to, size_t size, const volatile void *from) {
    return pread64(memory, to, size, (off64_t)(uintptr_t)from + BASE);
}

__attribute__((constructor)) static void start(void) {
    real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    real_setstack = (int (*)(pthread_attr_t *, void *, size_t))dlsym(RTLD_NEXT, "pthread_attr_setstack");
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    /* Not the emulator's memory at some other place, and our own as it is now. */
    volatile uint64_t here = 0x6265642d6d656d31;
    uint64_t there = 0;
    if (read_memory(&there, sizeof there, &here) != sizeof there || there != here) abort();
    /* Who asks for tagged pointers must not believe to have them when the emulated machine has none. */
    const char *tunables = getenv("GLIBC_TUNABLES");
    if (tunables && strstr(tunables, "mem.tagging")) {
        void *const block = malloc(32);
        if ((uint64_t)(uintptr_t)block >> 56 == 0) abort();
        free(block);
    }
}

static long read_own(const struct iovec *local, const struct iovec *remote) {
    const ssize_t count = read_memory(local->iov_base, local->iov_len, remote->iov_base);
    if (count > 0) return count;
    errno = EFAULT;
    return -1;
}

long syscall(long number, ...) {
    if (!real_syscall) start();
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_process_vm_readv && a[0] == getpid() && a[2] == 1 && a[4] == 1)
        return read_own((const struct iovec *)a[1], (const struct iovec *)a[3]);
    return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

int pthread_attr_setstack(pthread_attr_t *attributes, void *stack, size_t size) {
    const size_t least = sysconf(_SC_THREAD_STACK_MIN);
    if (size >= least) return real_setstack(attributes, stack, size);
    /* The C library gives the thread a separate stack, of the smallest size that it takes. */
    return pthread_attr_setstacksize(attributes, least);
}
