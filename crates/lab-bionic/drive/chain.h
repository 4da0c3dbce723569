/* What the driver asks of its signal chain. */
#pragma once
#include "libc.h"

/* The chain's `sigaction`. By that name the driver might get the substitute's, which takes bionic's structures. */
extern int chain_sigaction(int, const void *, void *);
/* How often the special handlers have left the signal to whatever has been set. */
extern int chain_has_gone_on(void);
