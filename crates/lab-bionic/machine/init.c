/* The first process of a machine: runs the driver as commanded over a virtual serial port, and sends its output.
 *
 * It says `RELEASE PAGE READS` first: the kernel's, how large a page is, and whether process_vm_readv does what the recorder needs. Then it
 * answers each line, by two numbers in a line, the second of which is how many bytes come after it:
 *
 * play SCENARIO FOLDER   the driver's exit code, or 128 and the signal; what it printed
 * limit BYTES         0, or an error's number: the drivers from now on are in a cgroup with that memory.high
 * hold FOLDER         the number of a driver that is in its message now, or 0; what it printed
 * kill                what it was ended by, as wait(2) has it
 * files FOLDER        how many there are; for each a line with name and size, and its bytes
 * off                 no answer: the machine goes off */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define PORT "/dev/vport0p1"
#define DATA "/data"
#define CGROUPS "/cgroup"

static FILE *port;
static char *variables[16];
static pid_t held;
static int is_limited;
static FILE *held_says;

static void fail(const char *what) {
    perror(what);
    reboot(RB_POWER_OFF);
    _exit(1);
}

static void answer(long number, const char *bytes, size_t length) {
    fprintf(port, "%ld %zu\n", number, length);
    fwrite(bytes, 1, length, port);
    fflush(port);
}

static const char *path_of(const char *folder) {
    static char path[300];
    snprintf(path, sizeof path, DATA "/%s", folder);
    mkdir(path, 0700);
    return path;
}

static int put(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    int failed = file < 0 || write(file, text, strlen(text)) < 0 ? errno : 0;
    if (file >= 0) close(file);
    return failed;
}

/* As Android 17 limits an app: a cgroup of version 2 with a limit above which the kernel throttles. */
static void limit(const char *bytes) {
    int failed = 0;
    mkdir(CGROUPS, 0755);
    if (mount("cgroup2", CGROUPS, "cgroup2", 0, 0) && errno != EBUSY) failed = errno;
    if (!failed) failed = put(CGROUPS "/cgroup.subtree_control", "+memory");
    if (!failed && mkdir(CGROUPS "/app", 0755) && errno != EEXIST) failed = errno;
    if (!failed) failed = put(CGROUPS "/app/memory.high", bytes);
    is_limited = !failed;
    answer(failed, 0, 0);
}

/* Starts the driver; what it prints can be read. */
static pid_t start(const char *scenario, const char *folder, FILE **says) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) fail("pipe");
    const char *path = path_of(folder);
    pid_t child = fork();
    if (child < 0) fail("fork");
    if (!child) {
        /* "0" is who writes it. */
        if (is_limited && put(CGROUPS "/app/cgroup.procs", "0")) _exit(126);
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        execle("/drive", "drive", "/libloopbox.so", "/libart.so", path, scenario, (char *)0, variables);
        perror("/drive");
        _exit(127);
    }
    close(ends[1]);
    *says = fdopen(ends[0], "r");
    return child;
}

/* Reads lines to the end, or to this one. Returns how many bytes. */
static size_t listen(FILE *says, const char *last, char **text) {
    size_t length = 0, room = 0;
    char *line = 0;
    FILE *all = open_memstream(text, &length);
    while (getline(&line, &room, says) >= 0) {
        fputs(line, all);
        if (last && !strcmp(line, last)) break;
    }
    fclose(all);
    free(line);
    return length;
}

static int end_of(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

static void play(const char *scenario, const char *folder) {
    FILE *says;
    char *text;
    pid_t child = start(scenario, folder, &says);
    size_t length = listen(says, 0, &text);
    fclose(says);
    int status = end_of(child);
    answer(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), text, length);
    free(text);
}

static void hold(const char *folder) {
    char *text;
    held = start("hold", folder, &held_says);
    size_t length = listen(held_says, "holds\n", &text);
    answer(feof(held_says) ? 0 : held, text, length);
    free(text);
}

static void end_held(void) {
    if (held <= 0) fail("nothing is held");
    kill(held, SIGKILL);
    int status = end_of(held);
    fclose(held_says);
    held = 0;
    answer(status, 0, 0);
}

static void files(const char *folder) {
    char *bytes, path[600], *content = malloc(64 << 20);
    size_t length;
    long count = 0;
    FILE *all = open_memstream(&bytes, &length);
    const char *in = path_of(folder);
    DIR *entries = opendir(in);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        snprintf(path, sizeof path, "%s/%s", in, entry->d_name);
        /* A driver that runs may have removed it, or given it another name. */
        int file = entry->d_type == DT_REG ? open(path, O_RDONLY) : -1;
        if (file < 0) continue;
        size_t size = 0;
        for (ssize_t some; (some = read(file, content + size, (64 << 20) - size)) > 0;) size += some;
        close(file);
        fprintf(all, "%s %zu\n", entry->d_name, size);
        fwrite(content, 1, size, all);
        count++;
    }
    if (entries) closedir(entries);
    fclose(all);
    answer(count, bytes, length);
    free(bytes);
    free(content);
}

/* Own memory is read, and where there is none it is said so. */
static int reads_memory(void) {
    long there = 16384, here = 0;
    struct iovec to = {&here, sizeof here}, from = {&there, sizeof there}, none = {(void *)8, sizeof here};
    if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof here || here != there) return 0;
    return process_vm_readv(getpid(), &to, 1, &none, 1, 0) < 0 && errno == EFAULT;
}

int main(int count, char **words) {
    mkdir("/proc", 0755);
    mkdir(DATA, 0755);
    if (mount("proc", "/proc", "proc", 0, 0) || mount("dev", "/dev", "devtmpfs", 0, 0) || mount("data", DATA, "tmpfs", 0, "size=256m"))
        fail("mount");
    int out = open("/dev/console", O_RDWR);
    for (int at = 0; at < 3; at++) dup2(out, at);
    FILE *list = fopen("/variables", "r");
    char *line = 0;
    size_t room = 0;
    for (int at = 0; list && at < 15 && getline(&line, &room, list) > 0; at++) {
        line[strcspn(line, "\n")] = 0;
        variables[at] = strdup(line);
    }
    int both = open(PORT, O_RDWR | O_CLOEXEC);
    if (both < 0) fail(PORT);
    port = fdopen(both, "w");
    FILE *commands = fdopen(dup(both), "r");
    fcntl(fileno(commands), F_SETFD, FD_CLOEXEC);
    struct utsname about;
    uname(&about);
    fprintf(port, "%s %ld %d\n", about.release, sysconf(_SC_PAGESIZE), reads_memory());
    fflush(port);
    while (getline(&line, &room, commands) > 0) {
        char *what = strtok(line, " \n"), *first = strtok(0, " \n"), *second = strtok(0, " \n");
        if (!what || !strcmp(what, "off")) break;
        if (!strcmp(what, "play") && second) play(first, second);
        if (!strcmp(what, "limit") && first) limit(first);
        if (!strcmp(what, "hold") && first) hold(first);
        if (!strcmp(what, "files") && first) files(first);
        if (!strcmp(what, "kill")) end_held();
    }
    reboot(RB_POWER_OFF);
    return 0;
}
