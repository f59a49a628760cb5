#include "array/file/outfile.h"
#include "array/file/bytes.h"

#include "fbp/array.h"

#include "base/threads.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 100 };

fbp_status fbp_output_check(const char *path)
{
    struct stat st;

    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return fbp_fail(FBP_ERR_INVALID, "%s: is there and not a regular file: choose another name",
                        path);
    return FBP_OK;
}

fbp_status fbp_output_folder(const char *path, char **folder, bool *made)
{
    struct stat st;
    char *name = *folder = fbp_path_join(path, ".");

    *made = false;
    if (!name)
        return fbp_fail_nomem(strlen(path), "a path");
    if (strlen(name) > 2)
        name[strlen(name) - 2] = '\0'; /* without "/." */
    if (stat(name, &st) == 0 && S_ISDIR(st.st_mode))
        return FBP_OK;
    if (mkdir(name, 0777) < 0)
        return fbp_fail(
            FBP_ERR_IO, "%s: the folder %s cannot be created: %s%s", path, name, strerror(errno),
            errno == ENOENT ? ": create those above it first" : fbp_write_remedy(errno));
    *made = true;
    return FBP_OK;
}

/* Whole pages, which nobody writes to any more, and not a few of them; where a file system cannot,
 * or fails, fsync() says so later. */
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

const char *fbp_write_remedy(int error)
{
    return error == EACCES || error == EPERM || error == EROFS
               ? ": make it writable, or choose another folder for the output"
               : "";
}

void fbp_sync_folder(const char *path)
{
    char *folder = fbp_path_join(path, ".");
    const int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    if (fd >= 0) {
        (void)!fsync(fd); /* the files still are on disk where a folder cannot be synced */
        close(fd);
    }
    free(folder);
}

/* Hidden, so that a folder of views does not count it, and unlike any other. */
static char *temporary_name(const char *path)
{
    unsigned long long number = 0;
    char name[40];

    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        number = (unsigned long long)now.tv_nsec << 32 ^ (unsigned long long)getpid();
    }
    snprintf(name, sizeof name, ".fbp-%016llx.part", number);
    return fbp_path_join(path, name);
}

/* A file without a name, which nothing can leave behind; -1 where that cannot be had. */
static int open_unnamed(struct fbp_outfile *out)
{
    char *folder = fbp_path_join(out->path, ".");
    const int fd = folder ? open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666) : -1;

    free(folder);
    if (fd < 0)
        return -1;
    out->part = fbp_format("/proc/self/fd/%d", fd);
    if (out->part && access(out->part, F_OK) == 0)
        return fd;
    close(fd);
    free(out->part);
    out->part = NULL;
    return -1;
}

static int open_named(struct fbp_outfile *out)
{
    for (int i = 0; i < TRIES; i++) {
        free(out->part);
        out->part = temporary_name(out->path);
        const int fd =
            out->part ? open(out->part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)
                      : -1;
        if (fd >= 0) {
            out->named = true;
            return fd;
        }
        if (!out->part || (errno != EEXIST && errno != EINTR))
            break;
    }
    free(out->part);
    out->part = NULL;
    return -1;
}

/* stdio hides why it failed: its bytes go through here. */
static ssize_t put_bytes(void *cookie, const char *data, size_t n)
{
    struct fbp_outfile *out = cookie;

    if (fbp_go_on() != FBP_OK || fbp_write_at(out->fd, out->path, out->at, data, n) != FBP_OK)
        return 0;
    out->at += n;
    return (ssize_t)n;
}

static fbp_status cannot_create(const char *path)
{
    return fbp_fail(FBP_ERR_IO, "%s: cannot create: %s%s", path, strerror(errno),
                    errno == ENOENT ? ": create its folder first" : "");
}

fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path)
{
    *out = (struct fbp_outfile){.path = fbp_strdup(path), .fd = -1};
    if (!out->path)
        return fbp_fail_nomem(strlen(path), "file name");
    FBP_TRY(fbp_output_check(path));
    out->fd = open_unnamed(out);
    if (out->fd < 0)
        out->fd = open_named(out);
    if (out->fd < 0)
        return cannot_create(path);
    out->f = fopencookie(out, "w", (cookie_io_functions_t){.write = put_bytes});
    return out->f ? FBP_OK : fbp_fail_nomem(BUFSIZ, "an output file");
}

/* From no name to a temporary one: only what has a name can replace a file. */
static fbp_status give_name(struct fbp_outfile *out)
{
    for (int i = 0; i < TRIES; i++) {
        char *name = temporary_name(out->path);
        if (!name)
            return fbp_fail_nomem(strlen(out->path), "file name");
        if (linkat(AT_FDCWD, out->part, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0) {
            free(out->part);
            out->part = name;
            out->named = true;
            return FBP_OK;
        }
        free(name);
        if (errno != EEXIST)
            break;
    }
    return cannot_create(out->path);
}

fbp_status fbp_outfile_settle(struct fbp_outfile *out)
{
    const bool bad = ferror(out->f) != 0;
    const bool closed = fclose(out->f) == 0;

    out->f = NULL;
    FBP_TRY(fbp_go_on());
    if (bad || !closed)
        return fbp_fail(FBP_ERR_IO, "%s: cannot write: %s", out->path, strerror(errno));
    FBP_TRY(fbp_sync_file(out->fd, out->path));
    if (!out->named)
        FBP_TRY(give_name(out));
    const int fd = out->fd;
    out->fd = -1;
    return close(fd) == 0 ? FBP_OK : fbp_fail_write(out->path, errno, 0);
}

/* Not over a file that is there; where the kernel does not look itself, just after a look. */
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

static fbp_status publish(struct fbp_outfile *out)
{
    const bool done =
        out->exclusive ? rename_exclusive(out->part, out->path) : rename(out->part, out->path) == 0;

    if (!done && out->exclusive && errno == EEXIST)
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: is there already and is not replaced: choose another name, or give "
                        "--force",
                        out->path);
    if (!done)
        return fbp_fail(FBP_ERR_IO, "%s: cannot rename the finished file: %s", out->path,
                        strerror(errno));
    free(out->part);
    out->part = NULL;
    return FBP_OK;
}

fbp_status fbp_outfile_publish(struct fbp_outfile *out, size_t n)
{
    for (size_t i = 0; i < n; i++) /* found before the first has its name */
        FBP_TRY(fbp_output_check(out[i].path));
    for (size_t i = 0; i < n; i++)
        FBP_TRY(publish(&out[i]));
    if (n > 0)
        fbp_sync_folder(out[0].path);
    return FBP_OK;
}

fbp_status fbp_outfile_finish(struct fbp_outfile *out)
{
    FBP_TRY(fbp_outfile_settle(out));
    return fbp_outfile_publish(out, 1);
}

fbp_status fbp_text_save(const char *path, const char *text, bool replace)
{
    FBP_GIVEN(path, text);
    struct fbp_outfile out;
    fbp_status st;

    fbp_message_clear();
    FBP_TRY_GOTO(fbp_outfile_open(&out, path));
    out.exclusive = !replace;
    fputs(text, out.f); /* a failure shows when it is settled */
    st = fbp_outfile_finish(&out);
fail:
    fbp_outfile_clear(&out);
    return st;
}

void fbp_outfile_clear(struct fbp_outfile *out)
{
    if (out->f)
        fclose(out->f);
    if (out->fd >= 0 && out->path) /* a zeroed struct was never opened */
        close(out->fd);
    if (out->part && out->named)
        unlink(out->part);
    free(out->part);
    free(out->path);
    *out = (struct fbp_outfile){.fd = -1};
}
