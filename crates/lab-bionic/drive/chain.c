/* ART's signal chain, for the one signal that is about, as app_process has it: its `sigaction` comes before the C library's, the
 * kernel has the chain's own handler once the signal is claimed, and a special handler is called before what has been set. */
#include "chain.h"

#define EXPORTED __attribute__((visibility("default")))
#define ROOM 2

/* Of a C library's `struct sigaction`: three arguments, restart what was interrupted, the alternative stack. */
#define FLAGS 0x18000004

struct chain_action {
    u8 (*handler)(int, void *, void *);
    set mask;
    unsigned long long flags;
};

static struct chain_action special[ROOM];
static signals user;
static int claimed, gone_on;

static int libc_sigaction(int number, const void *new, void *old) {
    static int (*libc)(int, const void *, void *);
    if (!libc) libc = (int (*)(int, const void *, void *))dlsym(RTLD_NEXT, "sigaction");
    return libc(number, new, old);
}

static void front(int number, void *info, void *context) {
    for (int at = 0; at < ROOM && special[at].handler; at++) {
        set before;
        pthread_sigmask(SIG_SETMASK, &special[at].mask, &before);
        if (special[at].handler(number, info, context)) return;
        pthread_sigmask(SIG_SETMASK, &before, 0);
    }
    /* What has been set would be called, or end the process. */
    gone_on++;
}

static void keep(int number) {
    signals action = {0};
    action.words[HANDLER] = (long)front;
    action.words[FLAGS_AT] = FLAGS;
    libc_sigaction(number, &action, &user);
    claimed = 1;
}

EXPORTED int chain_sigaction(int number, const void *new, void *old) {
    if (number != SIGQUIT || !claimed) return libc_sigaction(number, new, old);
    signals before = user;
    if (new) memcpy(&user, new, ACTION_LEN);
    if (old) memcpy(old, &before, ACTION_LEN);
    return 0;
}

EXPORTED int sigaction(int number, const void *new, void *old) { return chain_sigaction(number, new, old); }

EXPORTED void AddSpecialSignalHandlerFn(int number, struct chain_action *action) {
    int at = 0;
    while (at < ROOM && special[at].handler) at++;
    if (number != SIGQUIT || at == ROOM) abort();
    special[at] = *action;
    if (!claimed) keep(number);
}

EXPORTED void EnsureFrontOfChain(int number) {
    signals now = {0};
    libc_sigaction(number, 0, &now);
    if (now.words[HANDLER] != (long)front) keep(number);
}

EXPORTED int chain_has_gone_on(void) { return gone_on; }
