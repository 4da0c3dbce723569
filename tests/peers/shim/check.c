/* Checks the translations of shim.c that no test of xCrash comes to, or whose fault it would not show. */
#undef NDEBUG
#include <assert.h>
#include "shim.c"

static uint64_t buffer[12 + 1];

static int is_blocked(int signal) {
    set64 now;
    assert(shim_pthread_sigmask(SIG_BLOCK, NULL, &now) == 0);
    return (now >> (signal - 1)) & 1;
}

/* So that the jump leaves a frame, and registers that this function has changed. */
__attribute__((noinline)) static void jump(int result) {
    volatile uint64_t other[64];
    for (int i = 0; i < 64; i++) other[i] = i;
    __asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
    shim_siglongjmp(buffer, result);
}

static int jumps(int keeps_mask, int result) {
    set64 set;
    volatile int rounds = 0;
    shim_sigemptyset(&set);
    assert(shim_sigaddset(&set, SIGUSR1) == 0);
    assert(shim_pthread_sigmask(SIG_BLOCK, &set, NULL) == 0);
    int got = shim_sigsetjmp(buffer, keeps_mask);
    if (rounds++ == 0) {
        assert(got == 0);
        assert(shim_pthread_sigmask(SIG_UNBLOCK, &set, NULL) == 0);
        jump(result);
    }
    assert(rounds == 2 && is_blocked(SIGUSR1) == keeps_mask);
    return got;
}

int main(void) {
    buffer[12] = 4711;
    assert(jumps(1, 7) == 7 && jumps(0, 7) == 7 && jumps(1, 0) == 1);
    assert(buffer[12] == 4711);

    /* What lies behind a set of 64 bits stays as it was. */
    set64 sets[2] = {0, 42};
    assert(shim_sigaddset(sets, 64) == 0 && sets[0] == 1ULL << 63 && shim_sigaddset(sets, 65) == -1);
    assert(shim_sigfillset(sets) == 0 && sets[0] == ~0ULL);
    assert(shim_pthread_sigmask(SIG_SETMASK, NULL, sets) == 0 && sets[1] == 42);
    assert(shim_sigemptyset(sets) == 0 && sets[0] == 0 && sets[1] == 42);

    char text[8] = "xxxxxxx";
    assert(shim___strncpy_chk2(text, "ab", 5, sizeof text, 3) == text && !memcmp(text, "ab\0\0\0xx", 8));
    assert(shim___strlen_chk("abc", 4) == 3);
    return 0;
}
