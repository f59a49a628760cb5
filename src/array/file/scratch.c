#include "array/file/scratch.h"

#include "array/file/bytes.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

static fbp_status cannot(const char *folder, const char *what, int error)
{
    return fbp_fail(FBP_ERR_IO, "scratch: %s: %s: %s%s", folder, what, strerror(error),
                    error == ENOENT || error == ENOTDIR ? ": name a folder that is there"
                    : error == EACCES || error == EROFS ? ": name one that can be written to"
                                                        : "");
}

/* On file systems that have no files without a name. */
static int open_named(const char *folder)
{
    char *name = fbp_format("%s/fbp-scratch-XXXXXX", folder);
    const int fd = name ? mkostemp(name, O_CLOEXEC) : -1, error = name ? errno : ENOMEM;

    if (fd >= 0)
        (void)unlink(name);
    free(name);
    errno = error;
    return fd;
}

static fbp_status too_small(const struct fbp_scratch *s, uint64_t bytes)
{
    struct statvfs v;
    char a[32], b[32];
    const uint64_t left = fstatvfs(s->fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;

    return fbp_fail(FBP_ERR_IO,
                    "scratch: %s: the disk is too small: filtered views take %s, %s are free: free "
                    "some space, name a folder on another disk, or leave --scratch out",
                    s->folder, fbp_bytes_text(a, sizeof a, bytes),
                    fbp_bytes_text(b, sizeof b, left));
}

static fbp_status too_large(const struct fbp_scratch *s, uint64_t bytes)
{
    char text[32];

    return fbp_fail(FBP_ERR_IO,
                    "scratch: %s: filtered views take %s, too large a file for this file system "
                    "(FAT holds 4 GiB a file) or for a limit of this process (ulimit -f): name a "
                    "folder on another disk, raise the limit, or leave --scratch out",
                    s->folder, fbp_bytes_text(text, sizeof text, bytes));
}

/* Where blocks cannot be reserved, asking how many are free is the next best. */
static fbp_status reserve(const struct fbp_scratch *s, uint64_t bytes)
{
    struct statvfs v;
    int code;

    if (fstatvfs(s->fd, &v) == 0 && bytes > (uint64_t)v.f_bavail * v.f_frsize)
        return too_small(s, bytes);
    do
        code = fallocate(s->fd, 0, 0, (off_t)bytes);
    while (code < 0 && errno == EINTR);
    if (code < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL))
        code = ftruncate(s->fd, (off_t)bytes);
    if (code == 0)
        return FBP_OK;
    if (errno == EFBIG)
        return too_large(s, bytes);
    if (errno == ENOSPC || errno == EDQUOT)
        return too_small(s, bytes);
    return cannot(s->folder, "cannot reserve space", errno);
}

fbp_status fbp_scratch_open(struct fbp_scratch *out, const char *folder, uint64_t bytes)
{
    *out = (struct fbp_scratch){.fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600),
                                .folder = folder};
    if (out->fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
        out->fd = open_named(folder);
    if (out->fd < 0)
        return cannot(folder, "cannot make a file there", errno);
    const fbp_status st = reserve(out, bytes);
    if (st != FBP_OK)
        fbp_scratch_close(out);
    return st;
}

void fbp_scratch_close(struct fbp_scratch *s)
{
    if (s->fd >= 0)
        (void)close(s->fd);
    s->fd = -1;
}
