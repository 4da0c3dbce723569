/*
 * What xCrash's library imports of Android's C library that glibc has otherwise, besides what is in
 * jni-glue/android/shim/shim.c. The structures are those of bionic's 64-bit processes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A signal set has 64 bits in bionic and 1024 in glibc. */
typedef uint64_t set64;

int shim_sigemptyset(set64 *set) {
    *set = 0;
    return 0;
}

int shim_sigfillset(set64 *set) {
    *set = ~0ULL;
    return 0;
}

int shim_sigaddset(set64 *set, int signal) {
    if (signal < 1 || signal > 64) {
        errno = EINVAL;
        return -1;
    }
    *set |= 1ULL << (signal - 1);
    return 0;
}

int shim_pthread_sigmask(int how, const set64 *new, set64 *old) {
    sigset_t wide, wide_old;
    if (new) {
        sigemptyset(&wide);
        memcpy(&wide, new, sizeof *new);
    }
    int error = pthread_sigmask(how, new ? &wide : NULL, &wide_old);
    if (!error && old) memcpy(old, &wide_old, sizeof *old);
    return error;
}

int shim___android_log_print(int priority, const char *tag, const char *format, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return fprintf(stderr, "log %d/%s: %s\n", priority, tag, text);
}

/* Bionic's checks of sizes: glibc has others, or the same ones under other names. */
static void check(int is_right, const char *function) {
    if (!is_right) {
        fprintf(stderr, "FORTIFY: %s: out of its buffer\n", function);
        abort();
    }
}

size_t shim___strlen_chk(const char *text, size_t size) {
    size_t length = strlen(text);
    check(length < size, "strlen");
    return length;
}

char *shim___strncpy_chk2(char *to, const char *from, size_t count, size_t to_size, size_t from_size) {
    check(count <= to_size, "strncpy");
    check(strnlen(from, count) < count ? strlen(from) < from_size : count <= from_size, "strncpy");
    return strncpy(to, from, count);
}

/*
 * sigjmp_buf of 64-bit bionic has 12 words, that of glibc has 25. Here: the signal mask if it is kept, whether it
 * is, and then rbx, rbp, r12 to r15, rsp and rip.
 */
int shim_sigsetjmp(uint64_t *buffer, int keeps_mask) __attribute__((returns_twice));
void shim_siglongjmp(uint64_t *buffer, int result) __attribute__((noreturn));

__asm__(".text\n"
        ".globl shim_sigsetjmp\n"
        ".hidden shim_sigsetjmp\n"
        ".type shim_sigsetjmp, @function\n"
        "shim_sigsetjmp:\n"
        "  movl %esi, 8(%rdi)\n"
        "  movq %rbx, 16(%rdi)\n"
        "  movq %rbp, 24(%rdi)\n"
        "  movq %r12, 32(%rdi)\n"
        "  movq %r13, 40(%rdi)\n"
        "  movq %r14, 48(%rdi)\n"
        "  movq %r15, 56(%rdi)\n"
        "  leaq 8(%rsp), %rax\n"
        "  movq %rax, 64(%rdi)\n"
        "  movq (%rsp), %rax\n"
        "  movq %rax, 72(%rdi)\n"
        "  testl %esi, %esi\n"
        "  jz 1f\n"
        "  movq %rdi, %rdx\n" /* rt_sigprocmask(SIG_BLOCK, NULL, mask, 8) */
        "  xorl %edi, %edi\n"
        "  xorl %esi, %esi\n"
        "  movl $8, %r10d\n"
        "  movl $14, %eax\n"
        "  syscall\n"
        "1: xorl %eax, %eax\n"
        "  ret\n"
        ".globl shim_siglongjmp\n"
        ".hidden shim_siglongjmp\n"
        ".type shim_siglongjmp, @function\n"
        "shim_siglongjmp:\n"
        "  movq %rdi, %r8\n"
        "  movl %esi, %r9d\n"
        "  cmpl $0, 8(%r8)\n"
        "  je 1f\n"
        "  movl $2, %edi\n" /* rt_sigprocmask(SIG_SETMASK, mask, NULL, 8) */
        "  movq %r8, %rsi\n"
        "  xorl %edx, %edx\n"
        "  movl $8, %r10d\n"
        "  movl $14, %eax\n"
        "  syscall\n"
        "1: movl $1, %eax\n"
        "  testl %r9d, %r9d\n"
        "  cmovnzl %r9d, %eax\n"
        "  movq 16(%r8), %rbx\n"
        "  movq 24(%r8), %rbp\n"
        "  movq 32(%r8), %r12\n"
        "  movq 40(%r8), %r13\n"
        "  movq 48(%r8), %r14\n"
        "  movq 56(%r8), %r15\n"
        "  movq 64(%r8), %rsp\n"
        "  jmp *72(%r8)\n");
