/* What the driver takes from the C library. It is compiled for Android without an NDK and linked against a device's own bionic, so each
 * function is declared here, as every bionic since 5.0 and glibc have it. */
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef long long i64;
typedef unsigned long word;

#if defined(__ANDROID__) && !defined(__LP64__)
#define RTLD_NOW 0
#define RTLD_NEXT ((void *)-2)
#else
#define RTLD_NOW 2
#define RTLD_NEXT ((void *)-1)
#endif
#define SIGQUIT 3
#define SIG_BLOCK 0
#define SIG_SETMASK 2
#define CLOCK_MONOTONIC 1

extern int printf(const char *, ...), snprintf(char *, word, const char *, ...), fflush(void *);
extern int strcmp(const char *, const char *);
extern word strlen(const char *);
extern char *strstr(const char *, const char *);
extern void *malloc(word), *calloc(word, word), *memcpy(void *, const void *, word);
extern void free(void *);
extern void abort(void) __attribute__((noreturn)), _exit(int) __attribute__((noreturn));
extern void *dlopen(const char *, int), *dlsym(void *, const char *);
extern char *dlerror(void);
extern int open(const char *, int, ...), close(int), usleep(unsigned), getpid(void), kill(int, int), access(const char *, int);
extern long read(int, void *, word);
extern void *opendir(const char *);
extern struct entry *readdir(void *);
extern int closedir(void *);
extern long pthread_self(void);
extern int pthread_create(long *, const void *, void *(*)(void *), void *), pthread_setname_np(long, const char *);
extern int pthread_sigmask(int, const void *, void *), sigaction(int, const void *, void *), sigwait(const void *, int *);
extern int sigemptyset(void *), sigaddset(void *, int), sigismember(const void *, int);
extern int clock_gettime(int, void *);

/* `android_dlextinfo`, of which only the namespace is used, and the values that go with it. */
struct in_namespace {
    unsigned long long flags;
    void *address;
    word size;
    int relro, file;
    i64 offset;
    void *namespace;
};
#define USE_NAMESPACE 0x200
#define ISOLATED 1
#ifdef __LP64__
#define NOT_PUBLIC "/system/lib64/libc++.so"
#else
#define NOT_PUBLIC "/system/lib/libc++.so"
#endif

/* A directory's entry: the same in all of them, but for what glibc has on 32 bits. */
struct entry {
    i64 number, offset;
    u16 length;
    u8 type;
    char name[256];
};

/* Room for any C library's set of signals and its `struct sigaction`; where in that the handler and the flags are, how long it is; and
 * the set as it is. */
typedef struct {
    long words[32];
} signals;
#if defined(__ANDROID__)
typedef word set;
#ifdef __LP64__
#define HANDLER 1
#define FLAGS_AT 0
#else
#define HANDLER 0
#define FLAGS_AT 2
#endif
#define ACTION_LEN (4 * sizeof(long))
#else
typedef struct {
    word words[128 / sizeof(word)];
} set;
#define HANDLER 0
#define FLAGS_AT (1 + 128 / sizeof(word))
#define ACTION_LEN ((FLAGS_AT + 2) * sizeof(long))
#endif
