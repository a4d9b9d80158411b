/* A preloaded library that lets the disk fail under aizo, at a place that the test names.
 *
 * Looked at is what changes files below SHIM_UNDER, in programs called SHIM_PROGRAM (aizo). Every such call is a
 * line of SHIM_LOG. The call number SHIM_AT fails as SHIM_HOW says:
 *
 *   error N   it fails with this errno, the later ones do not
 *   dead N    it fails with this errno, and so does every later one
 *   short N   a write writes half of it, and the next call fails with this errno; everything else fails at once
 *   kill      the process ends before it
 *   torn      a write writes half of it, and the process ends
 *
 * SHIM_SYNCED names a folder that gets a copy of each file as it was when it was last synced, by its inode: what a
 * power cut leaves at least. SHIM_NO_SHM=1 lets no file below SHIM_UNDER that ends in -shm be mapped, as on
 * many network file systems.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

enum how { NOTHING, ONCE, DEAD, SHORT, KILL, TORN };

static const char *under, *log_path, *synced;
static long at;
static int error_number, no_shm;
static enum how how;
static atomic_long calls;
static atomic_int broken;

__attribute__((constructor)) static void begin(void)
{
    const char *program = getenv("SHIM_PROGRAM");
    const char *text;
    if (strcmp(program_invocation_short_name, program ? program : "aizo") != 0)
        return;
    under = getenv("SHIM_UNDER");
    log_path = getenv("SHIM_LOG");
    synced = getenv("SHIM_SYNCED");
    text = getenv("SHIM_NO_SHM");
    no_shm = text && *text == '1';
    text = getenv("SHIM_AT");
    at = text ? atol(text) : 0;
    text = getenv("SHIM_HOW");
    if (!text)
        return;
    if (sscanf(text, "error %d", &error_number) == 1)
        how = ONCE;
    else if (sscanf(text, "dead %d", &error_number) == 1)
        how = DEAD;
    else if (sscanf(text, "short %d", &error_number) == 1)
        how = SHORT;
    else if (strcmp(text, "kill") == 0)
        how = KILL;
    else if (strcmp(text, "torn") == 0)
        how = TORN;
}

static void note(const char *call, const char *path)
{
    char line[4400];
    int length, file;
    if (!log_path)
        return;
    length = snprintf(line, sizeof line, "%s %s\n", call, path);
    file = syscall(SYS_openat, AT_FDCWD, log_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    syscall(SYS_write, file, line, (size_t)length);
    syscall(SYS_close, file);
}

static int is_watched(const char *path)
{
    return under && path && strncmp(path, under, strlen(under)) == 0;
}

/* The path of an open file, or nothing. */
static const char *path_of(int file, char *path, size_t size)
{
    char link[64];
    ssize_t length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    length = readlink(link, path, size - 1);
    if (length < 0)
        return NULL;
    path[length] = 0;
    return path;
}

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Whether this call is to fail. With half a write to be done before, *half says so. */
static int fails(const char *call, const char *path, int *half)
{
    long number;
    if (!is_watched(path))
        return 0;
    number = atomic_fetch_add(&calls, 1) + 1;
    note(call, path);
    if (atomic_load(&broken)) {
        if (how == SHORT)
            atomic_store(&broken, 0);
        errno = error_number;
        return 1;
    }
    if (number != at)
        return 0;
    switch (how) {
    case DEAD:
        atomic_store(&broken, 1);
        break;
    case SHORT:
        if (half) {
            atomic_store(&broken, 1);
            *half = 1;
            return 1;
        }
        break;
    case KILL:
        die();
        break;
    case TORN:
        if (!half)
            die();
        *half = 1;
        return 1;
    case NOTHING:
        return 0;
    default:
        break;
    }
    errno = error_number;
    return 1;
}

static int fails_at(const char *call, int file, int *half)
{
    char path[4096];
    int before = errno;
    const char *name = under ? path_of(file, path, sizeof path) : NULL;
    errno = before;
    return name && fails(call, name, half);
}

/* Relative paths belong to the current folder. */
static int fails_named(const char *call, int folder, const char *name)
{
    char path[4096], base[4096];
    int before = errno;
    if (!under || !name)
        return 0;
    if (name[0] == '/')
        return fails(call, name, NULL);
    if (folder == AT_FDCWD) {
        if (!getcwd(base, sizeof base))
            base[0] = 0;
    } else if (!path_of(folder, base, sizeof base))
        base[0] = 0;
    errno = before;
    if (snprintf(path, sizeof path, "%s/%s", base, name) >= (int)sizeof path)
        return 0;
    return fails(call, path, NULL);
}

ssize_t write(int file, const void *bytes, size_t count)
{
    int half = 0;
    if (file == 1 && under)
        note("stdout", "-");
    if (fails_at("write", file, &half)) {
        if (!half)
            return -1;
        count = count / 2;
        count = syscall(SYS_write, file, bytes, count);
        if (how == TORN)
            die();
        return count;
    }
    return REAL(write)(file, bytes, count);
}

static ssize_t pwrite_half(int file, const void *bytes, size_t count, off_t offset)
{
    ssize_t written = syscall(SYS_pwrite64, file, bytes, count / 2, offset);
    if (how == TORN)
        die();
    return written;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset)
{
    int half = 0;
    if (fails_at("pwrite", file, &half))
        return half ? pwrite_half(file, bytes, count, offset) : -1;
    return REAL(pwrite)(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset)
{
    int half = 0;
    if (fails_at("pwrite", file, &half))
        return half ? pwrite_half(file, bytes, count, offset) : -1;
    return REAL(pwrite64)(file, bytes, count, offset);
}

ssize_t copy_file_range(int from, off64_t *begin, int to, off64_t *end, size_t count, unsigned flags)
{
    if (fails_at("copy_file_range", to, NULL))
        return -1;
    return REAL(copy_file_range)(from, begin, to, end, count, flags);
}

/* What a power cut would leave of a file from now on. Read through the open file: closing another one would give up the
 * process's locks. */
static void keep(int file)
{
    static char bytes[1 << 16];
    static atomic_flag busy = ATOMIC_FLAG_INIT;
    char path[4096], link[64];
    struct stat status;
    off_t offset = 0;
    ssize_t length;
    int copy, source = file, opened = -1;
    if (!synced || !path_of(file, path, sizeof path) || !is_watched(path))
        return;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
        return;
    while (atomic_flag_test_and_set(&busy))
        ;
    snprintf(path, sizeof path, "%s/%lu", synced, (unsigned long)status.st_ino);
    copy = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (syscall(SYS_pread64, file, bytes, (size_t)1, (off_t)0) < 0) {
        /* It is open for writing alone, which no database is. */
        snprintf(link, sizeof link, "/proc/self/fd/%d", file);
        source = opened = syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC);
    }
    while ((length = syscall(SYS_pread64, source, bytes, sizeof bytes, offset)) > 0) {
        syscall(SYS_write, copy, bytes, (size_t)length);
        offset += length;
    }
    if (opened >= 0)
        syscall(SYS_close, opened);
    syscall(SYS_close, copy);
    atomic_flag_clear(&busy);
}

int fsync(int file)
{
    int result;
    if (fails_at("fsync", file, NULL))
        return -1;
    result = REAL(fsync)(file);
    if (result == 0)
        keep(file);
    return result;
}

int fdatasync(int file)
{
    int result;
    if (fails_at("fdatasync", file, NULL))
        return -1;
    result = REAL(fdatasync)(file);
    if (result == 0)
        keep(file);
    return result;
}

int ftruncate(int file, off_t length)
{
    if (fails_at("ftruncate", file, NULL))
        return -1;
    return REAL(ftruncate)(file, length);
}

int ftruncate64(int file, off64_t length)
{
    if (fails_at("ftruncate", file, NULL))
        return -1;
    return REAL(ftruncate64)(file, length);
}

int rename(const char *from, const char *to)
{
    if (fails_named("rename", AT_FDCWD, to))
        return -1;
    return REAL(rename)(from, to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    if (fails_named("rename", to_folder, to))
        return -1;
    return REAL(renameat)(from_folder, from, to_folder, to);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    if (fails_named("rename", to_folder, to))
        return -1;
    return REAL(renameat2)(from_folder, from, to_folder, to, flags);
}

int link(const char *from, const char *to)
{
    if (fails_named("link", AT_FDCWD, to))
        return -1;
    return REAL(link)(from, to);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    if (fails_named("link", to_folder, to))
        return -1;
    return REAL(linkat)(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    if (fails_named("unlink", AT_FDCWD, path))
        return -1;
    return REAL(unlink)(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    if (fails_named("unlink", folder, path))
        return -1;
    return REAL(unlinkat)(folder, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    if (fails_named("mkdir", AT_FDCWD, path))
        return -1;
    return REAL(mkdir)(path, mode);
}

/* Opening counts where it may make a file. */
#define OPEN(name, signature, folder, arguments)                                                                       \
    int name signature                                                                                                 \
    {                                                                                                                  \
        mode_t mode = 0;                                                                                               \
        if (flags & (O_CREAT | O_TMPFILE)) {                                                                           \
            va_list rest;                                                                                              \
            va_start(rest, flags);                                                                                     \
            mode = va_arg(rest, mode_t);                                                                               \
            va_end(rest);                                                                                              \
        }                                                                                                              \
        if ((flags & O_CREAT) && fails_named("create", folder, path))                                                  \
            return -1;                                                                                                 \
        return REAL(name) arguments;                                                                                   \
    }

OPEN(open, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), AT_FDCWD, (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), folder, (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, (folder, path, flags, mode))

static int is_shared_memory(int file)
{
    char path[4096];
    size_t length;
    if (!no_shm || file < 0 || !path_of(file, path, sizeof path) || !is_watched(path))
        return 0;
    length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

void *mmap(void *address, size_t length, int protection, int flags, int file, off_t offset)
{
    if (is_shared_memory(file)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return REAL(mmap)(address, length, protection, flags, file, offset);
}

void *mmap64(void *address, size_t length, int protection, int flags, int file, off64_t offset)
{
    if (is_shared_memory(file)) {
        errno = ENODEV;
        return MAP_FAILED;
    }
    return REAL(mmap64)(address, length, protection, flags, file, offset);
}
