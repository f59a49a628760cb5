#include "array/file/room.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

uint64_t fbp_room_left(int fd)
{
    struct statvfs v;

    return fstatvfs(fd, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : UINT64_MAX;
}

int fbp_room_reserve(int fd, uint64_t bytes)
{
    int code;

    do
        code = fallocate(fd, 0, 0, (off_t)bytes);
    while (code < 0 && errno == EINTR);
    if (code == 0)
        return 0;
    return errno == ENOSYS || errno == EINVAL ? EOPNOTSUPP : errno;
}

fbp_status fbp_fail_room(const char *path, uint64_t need, uint64_t left)
{
    char a[32], b[32];

    return fbp_fail(FBP_ERR_IO,
                    "%s: the disk is too small: %s needed, %s free: free some space or write to "
                    "another disk",
                    path, fbp_bytes_text(a, sizeof a, need), fbp_bytes_text(b, sizeof b, left));
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

int fbp_nameless_open(const char *folder)
{
    const int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
               ? open_named(folder)
               : fd;
}
