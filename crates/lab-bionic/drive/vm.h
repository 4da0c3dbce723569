/* A substitute for the VM: what the library asks of it, and nothing behind. */
#pragma once
#include "libc.h"

struct native {
    const char *name, *signature;
    void *function;
};

/* For JNI_OnLoad, and for each native method. */
struct vm {
    void *(*java_vm)(void), *(*environment)(void);
    /* A registered native method; null when there is none of that name. */
    void *(*native)(const char *name);
    /* A long[], a String[], a String, and a String's ASCII. */
    void *(*longs)(const i64 *, int), *(*texts)(const char *const *, int), *(*text)(const char *);
    const char *(*ascii)(void *);
};
