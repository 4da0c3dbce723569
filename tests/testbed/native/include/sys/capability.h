// The two system calls behind libcap; the kernel's own header has the types.
#pragma once
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline int capget(cap_user_header_t header, cap_user_data_t data) {
    return syscall(SYS_capget, header, data);
}

static inline int capset(cap_user_header_t header, const cap_user_data_t data) {
    return syscall(SYS_capset, header, data);
}
