// Asks clang for the layout of every class that a row of offsets/ is about.

#include "art_method.h"
#include "dex/dex_file.h"
#include "mirror/class.h"
#include "mirror/dex_cache.h"
#include "runtime.h"
#include "stack.h"
#include "thread.h"
#include "thread_list.h"

namespace art {

// The size shows which parameters ThreadList::SuspendThreadByThreadId has.
char (&FormOf(Thread* (ThreadList::*)(uint32_t, bool, bool*)))[1];
char (&FormOf(Thread* (ThreadList::*)(uint32_t, SuspendReason, bool*)))[2];
char (&FormOf(Thread* (ThreadList::*)(uint32_t, SuspendReason, int)))[3];
struct SuspendForm {
  char form[sizeof(FormOf(&ThreadList::SuspendThreadByThreadId))];
};

int used[] = {
    sizeof(Runtime),   sizeof(ThreadList),    sizeof(Thread),           sizeof(StackVisitor),
    sizeof(ArtMethod), sizeof(mirror::Class), sizeof(mirror::DexCache), sizeof(DexFile),
    sizeof(SuspendForm),
};

}  // namespace art
