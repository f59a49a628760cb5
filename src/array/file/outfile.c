/* Writes small output files, which get their names when they are complete (fbp_outfile_…(),
 * fbp_text_save()); also folders of outputs, syncing and free space of disks, and temporary files
 * without a name for filtered or corrected views (--scratch, fbp_scratch_…()). outfile.h describes
 * the functions.
 * Used by: bench/, cli/, array/, pipeline/, scan/. */
#include "array/file/outfile.h"
#include "array/file/bytes.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#    include <linux/magic.h>
#    include <sys/uio.h>
#    include <sys/vfs.h>
#endif

/* ---- folders and syncing */

fbp_status fbp_output_check(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return FBP_INVALID("%s: exists and is not a regular file; choose another name", path);
    return FBP_OK;
}

fbp_status fbp_output_folder(const char *path, char **folder, bool *made)
{
    struct stat st;
    char *name = *folder = fbp_path_join(path, ".");

    *made = false;
    FBP_TRY(fbp_check_path(name));
    if (strlen(name) > 2)
        name[strlen(name) - 2] = '\0'; /* without "/." */
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return FBP_OK;
    if (mkdir(name, 0777) < 0)
        return fbp_fail(
            FBP_ERR_IO, "%s: the folder %s cannot be created: %s%s", path, name, strerror(errno),
            errno == ENOENT ? "; create its parent folders first" : fbp_write_remedy(errno));
    *made = true;
    return FBP_OK;
}

const char *fbp_write_remedy(int error)
{
    return error == EACCES || error == EPERM || error == EROFS
               ? "; make it writable, or choose another folder for the output"
               : "";
}

/* Only large ranges are written early, and only their whole pages, because later writes do not
 * change these. The later fsync() reports failures. */
void fbp_begin_sync(int fd, uint64_t at, uint64_t n)
{
    enum { PAGE = 4096, LEAST = 1 << 18 };
    const uint64_t from = (at + PAGE - 1) / PAGE * PAGE, to = (at + n) / PAGE * PAGE;

    if (n >= LEAST)
        (void)!sync_file_range(fd, (off_t)from, (off_t)(to - from), SYNC_FILE_RANGE_WRITE);
}

fbp_status fbp_sync_file(int fd, const char *path)
{
    int code;

    do
        code = fsync(fd);
    while (code < 0 && errno == EINTR);
    if (code < 0 && errno != EINVAL && errno != EROFS)
        return fbp_fail_write(path, errno, 0);
    return FBP_OK;
}

void fbp_sync_folder(const char *path)
{
    char *folder = fbp_path_join(path, ".");
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        /* A folder that cannot be synced is no failure, because its files are already on disk. */
        (void)!fsync(fd);
        close(fd);
    }
    free(folder);
}

/* ---- output files */

uint64_t fbp_random_number(void)
{
    struct timespec now = {0};
    uint64_t number = 0;

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number)
        return number;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 16;
}

/* Write callback of the stream of an output file. A failure records fbp's message, because stdio
 * only sets a flag. */
static ssize_t put_bytes(void *cookie, const char *data, size_t n)
{
    struct fbp_outfile *out = cookie;

    if (fbp_check_cancelled() != FBP_OK ||
        fbp_write_at(out->fd, out->path, out->at, data, n) != FBP_OK)
        return 0;
    out->at += n;
    return (ssize_t)n;
}

fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path)
{
    char name[40]; /* hidden files are no views */

    *out = (struct fbp_outfile){.path = fbp_strdup(path), .fd = -1};
    FBP_TRY(fbp_check_path(out->path));
    FBP_TRY(fbp_output_check(path));
    snprintf(name, sizeof name, ".fbp-%016llx.part", (unsigned long long)fbp_random_number());
    char *part = fbp_path_join(path, name);
    FBP_TRY(fbp_check_path(part));
    do
        out->fd = open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    while (out->fd < 0 && errno == EINTR);
    if (out->fd < 0) {
        const int error = errno;

        free(part);
        return fbp_fail(FBP_ERR_IO, "%s: cannot create: %s%s", path, strerror(error),
                        error == ENOENT ? "; create its folder first" : "");
    }
    out->part = part;
    out->f = fopencookie(out, "w", (cookie_io_functions_t){.write = put_bytes});
    return out->f ? FBP_OK : fbp_fail_nomem(BUFSIZ, "an output file");
}

fbp_status fbp_outfile_settle(struct fbp_outfile *out)
{
    const bool bad = ferror(out->f) != 0;
    const bool closed = fclose(out->f) == 0;

    out->f = NULL;
    FBP_TRY(fbp_check_cancelled());
    if (bad || !closed)
        return fbp_fail(FBP_ERR_IO, "%s: cannot write: %s", out->path, strerror(errno));
    FBP_TRY(fbp_sync_file(out->fd, out->path));
    const int fd = out->fd;
    out->fd = -1;
    return close(fd) == 0 ? FBP_OK : fbp_fail_write(out->path, errno, 0);
}

/* Rename a file without replacing an existing one. If neither renameat2() nor link() can do that,
 * the existence of `to` is checked just before the renaming. */
static bool rename_exclusive(const char *from, const char *to)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return true;
    if (errno != EINVAL && errno != ENOSYS)
        return false;
    if (link(from, to) == 0)
        return unlink(from) == 0;
    if (errno == EEXIST)
        return false;
    if (access(to, F_OK) == 0) {
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

fbp_status fbp_outfile_publish(struct fbp_outfile *out, size_t n)
{
    for (size_t i = 0; i < n; i++) /* all checks come before the first rename */
        FBP_TRY(fbp_output_check(out[i].path));
    for (size_t i = 0; i < n; i++) {
        struct fbp_outfile *o = &out[i];
        const bool done =
            o->exclusive ? rename_exclusive(o->part, o->path) : rename(o->part, o->path) == 0;
        if (!done && o->exclusive && errno == EEXIST)
            return FBP_INVALID(
                "%s: already exists; choose another name, or give --force to replace it", o->path);
        if (!done)
            return fbp_fail(FBP_ERR_IO,
                            "%s: the finished file cannot be given this name: %s; choose another "
                            "name",
                            o->path, strerror(errno));
        free(o->part);
        o->part = NULL;
    }
    if (n > 0)
        fbp_sync_folder(out[0].path);
    return FBP_OK;
}

fbp_status fbp_outfile_finish(struct fbp_outfile *out)
{
    FBP_TRY(fbp_outfile_settle(out));
    return fbp_outfile_publish(out, 1);
}

void fbp_outfile_clear(struct fbp_outfile *out)
{
    if (out->f)
        fclose(out->f);
    if (out->fd >= 0 && out->path) /* path NULL: not opened yet */
        close(out->fd);
    if (out->part)
        unlink(out->part);
    free(out->part);
    free(out->path);
    *out = (struct fbp_outfile){.fd = -1};
}

fbp_status fbp_text_save(const char *path, const char *text, bool replace)
{
    FBP_REQUIRE(path, text);
    struct fbp_outfile out;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    out.exclusive = !replace;
    fputs(text, out.f); /* fbp_outfile_finish() reports a failure */
    st = fbp_outfile_finish(&out);
fail:
    fbp_outfile_clear(&out);
    return st;
}

/* ---- room on disks */

uint64_t fbp_disk_free(int fd)
{
    struct statvfs v;

    if (fstatvfs(fd, &v) < 0 || v.f_blocks == 0) /* 0: a tmpfs without a limit */
        return UINT64_MAX;
    return (uint64_t)v.f_bavail * v.f_frsize;
}

int fbp_disk_extend(int fd, uint64_t bytes)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return errno;
    const uint64_t taken = (uint64_t)st.st_blocks * 512;
    if (bytes > taken && bytes - taken > fbp_disk_free(fd))
        return ENOSPC;
    return (uint64_t)st.st_size >= bytes || ftruncate(fd, (off_t)bytes) == 0 ? 0 : errno;
}

int fbp_disk_reserve(int fd, uint64_t bytes)
{
    int code;

    do
        code = fallocate(fd, 0, 0, (off_t)bytes);
    while (code < 0 && errno == EINTR);
    if (code == 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return code == 0 ? 0 : errno;
    return fbp_disk_extend(fd, bytes); /* the file system cannot reserve blocks */
}

#ifdef __linux__

char *fbp_map_memory_file(int fd, uint64_t bytes)
{
    struct statfs is;

    if (fstatfs(fd, &is) < 0 || is.f_type != TMPFS_MAGIC || bytes > SIZE_MAX)
        return NULL;
    void *map = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* process_vm_writev() returns an error where memcpy() would end the process by SIGBUS. Each
 * thread unmaps the pages that it copied, so that munmap() is short and resident memory is small.
 */
bool fbp_map_copy(char *map, uint64_t at, const void *data, size_t n)
{
    enum { PIECE = 4 << 20 };
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    bool ok = true;

    for (size_t done = 0, some; ok && done < n; done += some) {
        char *to = map + at + done, *first = to - (uintptr_t)to % page;
        some = n - done < PIECE ? n - done : PIECE;
        const struct iovec from = {(char *)(uintptr_t)data + done, some}, into = {to, some};
        ok = process_vm_writev(getpid(), &from, 1, &into, 1, 0) == (ssize_t)some;
        (void)madvise(first, (size_t)(to + some - first), MADV_DONTNEED);
    }
    return ok;
}

#else

char *fbp_map_memory_file(int fd, uint64_t bytes)
{
    (void)fd, (void)bytes;
    return NULL;
}

bool fbp_map_copy(char *map, uint64_t at, const void *data, size_t n)
{
    (void)map, (void)at, (void)data, (void)n;
    return false;
}

#endif

fbp_status fbp_fail_disk_full(const char *path, uint64_t need, uint64_t left)
{
    char a[32], b[32];

    return fbp_fail(
        FBP_ERR_IO,
        "%s: not enough disk space: %s needed, %s free; free some space, or write to another disk",
        path, fbp_bytes_text(a, sizeof a, need), fbp_bytes_text(b, sizeof b, left));
}

/* ---- temporary files */

int fbp_open_nameless(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    /* The file system has no files without names: create a file, and remove its name at once. */
    char *name = fbp_format("%s/fbp-scratch-XXXXXX", folder);
    fd = name ? mkostemp(name, O_CLOEXEC) : -1;
    const int error = name ? errno : ENOMEM;
    if (fd >= 0)
        (void)unlink(name);
    free(name);
    errno = error;
    return fd;
}

static fbp_status scratch_failed(const char *folder, const char *what, int error)
{
    return fbp_fail(FBP_ERR_IO, "scratch: %s: %s: %s%s", folder, what, strerror(error),
                    error == ENOENT || error == ENOTDIR ? "; name an existing folder"
                    : error == EACCES || error == EROFS ? "; name a writable folder"
                    : error == EDQUOT ? "; free some space, or name a folder on another disk"
                                      : "");
}

fbp_status fbp_scratch_check(const char *folder)
{
    const int fd = fbp_open_nameless(folder);

    if (fd < 0)
        return scratch_failed(folder, "cannot create a file in this folder", errno);
    (void)close(fd);
    return FBP_OK;
}

fbp_status fbp_scratch_open(struct fbp_scratch *out, const char *folder, uint64_t bytes)
{
    char need[32], free_text[32];

    *out = (struct fbp_scratch){.fd = fbp_open_nameless(folder), .folder = folder};
    if (out->fd < 0)
        return scratch_failed(folder, "cannot create a file in this folder", errno);
    uint64_t left = fbp_disk_free(out->fd);
    const int error = bytes > left ? ENOSPC : fbp_disk_reserve(out->fd, bytes);
    if (error == 0)
        return FBP_OK;
    if (error == ENOSPC && bytes <= left)
        left = fbp_disk_free(out->fd);
    fbp_scratch_close(out);
    fbp_bytes_text(need, sizeof need, bytes);
    if (error == EFBIG)
        return fbp_fail(
            FBP_ERR_IO,
            "scratch: %s: the filtered or corrected views need a file of %s, too large for this "
            "file system (FAT allows 4 GiB per file) or for the limit of this process (ulimit -f); "
            "name a folder on another disk, raise the limit, or omit --scratch",
            folder, need);
    if (error == ENOSPC)
        return fbp_fail(
            FBP_ERR_IO,
            "scratch: %s: not enough disk space: the filtered or corrected views need %s, %s are "
            "free; free some space, name a folder on another disk, or omit --scratch",
            folder, need, fbp_bytes_text(free_text, sizeof free_text, left));
    return scratch_failed(folder, "cannot reserve space", error);
}

void fbp_scratch_close(struct fbp_scratch *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    s->fd = -1;
}
