/* What the driver asks of its signal chain. */
#pragma once
#include "libc.h"

/* How often the special handlers have left the signal to whatever has been set. */
extern int chain_has_gone_on(void);
