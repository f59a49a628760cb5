#include "array/file/scratch.h"

#include "array/file/room.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static fbp_status cannot(const char *folder, const char *what, int error)
{
    return fbp_fail(FBP_ERR_IO, "scratch: %s: %s: %s%s", folder, what, strerror(error),
                    error == ENOENT || error == ENOTDIR ? ": name a folder that is there"
                    : error == EACCES || error == EROFS ? ": name one that can be written to"
                    : error == EDQUOT ? ": free some space or name a folder on another disk"
                                      : "");
}

static fbp_status too_small(const struct fbp_scratch *s, uint64_t bytes, uint64_t left)
{
    char a[32], b[32];

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
    const uint64_t left = fbp_room_left(s->fd);

    if (bytes > left)
        return too_small(s, bytes, left);
    int error = fbp_room_reserve(s->fd, bytes);
    if (error == EOPNOTSUPP)
        error = ftruncate(s->fd, (off_t)bytes) < 0 ? errno : 0;
    switch (error) {
    case 0:
        return FBP_OK;
    case EFBIG:
        return too_large(s, bytes);
    case ENOSPC:
        return too_small(s, bytes, fbp_room_left(s->fd));
    default:
        return cannot(s->folder, "cannot reserve space", error);
    }
}

static fbp_status open_in(const char *folder, int *fd)
{
    *fd = fbp_nameless_open(folder);
    return *fd < 0 ? cannot(folder, "cannot make a file there", errno) : FBP_OK;
}

fbp_status fbp_scratch_check(const char *folder)
{
    int fd;

    FBP_TRY(open_in(folder, &fd));
    (void)close(fd);
    return FBP_OK;
}

fbp_status fbp_scratch_open(struct fbp_scratch *out, const char *folder, uint64_t bytes)
{
    *out = (struct fbp_scratch){.folder = folder};
    FBP_TRY(open_in(folder, &out->fd));
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
