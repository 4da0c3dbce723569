/* SPDX-License-Identifier: MIT OR Apache-2.0 */
#ifndef LOOPBOX_H
#define LOOPBOX_H

/*
 * What native code (C, C++, Rust) may ask of libloopbox.so. The functions are looked up in the library that Loopbox.install has
 * loaded, and nothing is linked: a library that depends on libloopbox.so would load it in spite of the kill switch. Each
 * loopbox_find_... returns NULL while it is not loaded, or has no such function; ask when you need it, and keep the result.
 */

#include <dlfcn.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Notes in the recording that the process dies of this signal, 0 for a death without one. Async-signal-safe: look it up when the
 * handler is installed, not in it. The next launch has a report of the kind CRASH. */
typedef void (*loopbox_mark_crash_fn)(int signal);

/* Called on a thread for listeners, with texts that are good until it returns: the report's file, why it was written, and its
 * digest of at most 900 bytes, all UTF-8. */
typedef void (*loopbox_listener)(const char *path, const char *reason, const char *digest);

/* Sets the listener, or with NULL none; one call of the last one may be under way then. */
typedef void (*loopbox_set_listener_fn)(loopbox_listener listener);

static inline void *loopbox_find(const char *name) {
    void *library = dlopen("libloopbox.so", RTLD_NOW | RTLD_NOLOAD);
    return library == NULL ? NULL : dlsym(library, name);
}

static inline loopbox_mark_crash_fn loopbox_find_mark_crash(void) {
    return (loopbox_mark_crash_fn)loopbox_find("loopbox_mark_crash");
}

/* Of complete reports. */
static inline loopbox_set_listener_fn loopbox_find_on_report(void) {
    return (loopbox_set_listener_fn)loopbox_find("loopbox_on_report");
}

/* Of reports that have a file and are not complete: as soon as it can be. */
static inline loopbox_set_listener_fn loopbox_find_on_first_file(void) {
    return (loopbox_set_listener_fn)loopbox_find("loopbox_on_first_file");
}

#ifdef __cplusplus
}
#endif

#endif
