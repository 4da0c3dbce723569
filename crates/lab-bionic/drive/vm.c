/* libart.so of the driver: a JavaVM and a JNIEnv with just enough behind them. It has none of ART's functions, so the sampler is off,
 * as on an unknown runtime. A function of JNI that the library had no need of so far ends the process. */
#include "vm.h"

enum kind { OBJECT, TEXT, LONGS, TEXTS };
struct object {
    enum kind kind;
    int length;
    const char *name;
    u16 *units;
    i64 *longs;
    struct object **texts;
};

#define FUNCTIONS 235
#define VM_FUNCTIONS 8
#define MAX_NATIVES 64
static void *environment_table[FUNCTIONS], *vm_table[VM_FUNCTIONS];
static void **environment = environment_table, **vm = vm_table;
static struct native natives[MAX_NATIVES];
static int native_count;

static char *copy(const char *text) { return memcpy(malloc(strlen(text) + 1), text, strlen(text) + 1); }

static struct object *make(enum kind kind, int length) {
    struct object *made = calloc(1, sizeof *made);
    made->kind = kind;
    made->length = length;
    return made;
}

static struct object *named(const char *name) {
    struct object *made = make(OBJECT, 0);
    made->name = copy(name);
    return made;
}

/* For the driver. */
static void *java_vm(void) { return &vm; }
static void *environment_(void) { return &environment; }

static void *native(const char *name) {
    for (int at = 0; at < native_count; at++)
        if (!strcmp(natives[at].name, name)) return natives[at].function;
    return 0;
}

static void *text(const char *ascii) {
    struct object *made = make(TEXT, (int)strlen(ascii));
    made->units = malloc(2 * strlen(ascii) + 2);
    for (int at = 0; at < made->length; at++) made->units[at] = (u8)ascii[at];
    return made;
}

static void *longs(const i64 *values, int length) {
    struct object *made = make(LONGS, length);
    made->longs = memcpy(malloc(sizeof *values * length), values, sizeof *values * length);
    return made;
}

static void *texts(const char *const *values, int length) {
    struct object *made = make(TEXTS, length);
    made->texts = malloc(sizeof(void *) * length);
    for (int at = 0; at < length; at++) made->texts[at] = text(values[at]);
    return made;
}

static const char *ascii(void *string) {
    struct object *from = string;
    if (!from) return "null";
    char *to = calloc(from->length + 1, 1);
    for (int at = 0; at < from->length; at++) to[at] = (char)from->units[at];
    return to;
}

__attribute__((visibility("default"))) const struct vm stand_in = {java_vm, environment_, native, longs, texts, text, ascii};

/* For the library. */
static void unexpected(void) {
    printf("WRONG a function of JNI was called that the substitute has not\n");
    fflush(0);
    abort();
}

static int version(void *env) { return 0x10006; }
static void *find_class(void *env, const char *name) { return named(name); }
static void *same(void *env, void *reference) { return reference; }
static void forget(void *env, void *reference) {}
static void *nothing_thrown(void *env) { return 0; }
static void clear(void *env) {}
static u8 is_thrown(void *env) { return 0; }
static int room_for(void *env, int references) { return 0; }
static void *member(void *env, void *class, const char *name, const char *signature) { return named(name); }
static void *object_field(void *env, void *object, void *field) { return 0; }
static u8 boolean_field(void *env, void *object, void *field) { return 0; }
static int int_field(void *env, void *object, void *field) { return 0; }
static int call_for_int(void *env, void *class, void *method, void *arguments) { return 0; }

/* The queue is empty, and nothing else is known. */
static void *call_for_object(void *env, void *class, struct object *method, void *arguments) {
    return strcmp(method->name, "collect") ? 0 : named("PendingDump");
}

/* `discover` and `walk` of Native.java are native methods; calls of the others go nowhere. */
static void call(void *env, void *class, struct object *method, void *arguments) {
    void (*function)(void *, void *) = native(method->name);
    if (function) function(env, class);
}

static void *new_string(void *env, const u16 *units, int length) {
    struct object *made = make(TEXT, length);
    made->units = memcpy(malloc(2 * length + 2), units, 2 * length);
    return made;
}

static int length(void *env, struct object *of) { return of->length; }
static void region(void *env, struct object *of, int at, int count, u16 *to) { memcpy(to, of->units + at, 2 * count); }
static void *element(void *env, struct object *of, int at) { return of->texts[at]; }
static void longs_of(void *env, struct object *of, int at, int count, i64 *to) {
    memcpy(to, of->longs + at, sizeof *to * count);
}

static int register_natives(void *env, void *class, const struct native *methods, int count) {
    if (native_count + count > MAX_NATIVES) return -1;
    for (int at = 0; at < count; at++) {
        natives[native_count] = methods[at];
        natives[native_count++].name = copy(methods[at].name);
    }
    return 0;
}

static int the_vm(void *env, void **out) {
    *out = &vm;
    return 0;
}

static int attach(void *self, void **env, const void *arguments) {
    const struct {
        int version;
        const char *name;
    } *wanted = arguments;
    if (wanted && wanted->name) pthread_setname_np(pthread_self(), wanted->name);
    *env = &environment;
    return 0;
}

static int detach(void *self) { return 0; }

static int get_environment(void *self, void **env, int wanted) {
    *env = &environment;
    return 0;
}

/* The places of the functions are JNI's (jni.h, `JNINativeInterface`). */
__attribute__((constructor)) static void set_up(void) {
    for (int at = 0; at < FUNCTIONS; at++) environment_table[at] = unexpected;
    const struct {
        int at;
        void *function;
    } functions[] = {
        {4, version},           {6, find_class},      {15, nothing_thrown},   {17, clear},         {19, room_for},
        {20, same},             {21, same},           {22, forget},           {23, forget},        {25, same},
        {94, member},           {95, object_field},   {96, boolean_field},    {100, int_field},    {113, member},
        {116, call_for_object}, {131, call_for_int},  {143, call},            {144, member},       {163, new_string},
        {164, length},          {171, length},        {173, element},         {204, longs_of},     {215, register_natives},
        {219, the_vm},          {220, region},        {228, is_thrown},
    };
    for (word at = 0; at < sizeof functions / sizeof *functions; at++) environment_table[functions[at].at] = functions[at].function;
    vm_table[3] = unexpected;
    vm_table[4] = vm_table[7] = attach;
    vm_table[5] = detach;
    vm_table[6] = get_environment;
}
