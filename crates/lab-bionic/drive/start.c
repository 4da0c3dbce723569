/* The program's start on Android, which an NDK has in crtbegin.o: bionic takes the stack as the kernel left it. */
typedef void (*function)(void);

extern int main(int, char **, char **);
extern void __libc_init(void *, function, int (*)(int, char **, char **), const void *) __attribute__((noreturn));

static function none[] = {(function)-1, 0};
static const struct {
    function *preinit, *init, *fini;
} structors = {none, none, none};

__attribute__((used, noreturn)) void start_c(void *stack) { __libc_init(stack, 0, main, &structors); }

#if defined(__aarch64__)
__asm__(".globl _start\n.type _start,%function\n_start: mov x29, #0\n mov x30, #0\n mov x0, sp\n b start_c\n");
#elif defined(__arm__)
__asm__(".globl _start\n.type _start,%function\n.arm\n_start: mov fp, #0\n mov lr, #0\n mov r0, sp\n b start_c\n");
#elif defined(__x86_64__)
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call start_c\n hlt\n");
#elif defined(__i386__)
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %esp, %eax\n and $-16, %esp\n sub $12, %esp\n push %eax\n call start_c\n hlt\n");
#endif
