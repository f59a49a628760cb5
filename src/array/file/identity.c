#include "array/file/identity.h"

#include "base/hash.h"

#include <fcntl.h>
#include <sys/stat.h>

uint64_t fbp_file_identity(int fd, const char *name)
{
    struct statx is = {0};

    if (statx(fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &is) < 0)
        return 0;
    const int64_t what[] = {(int64_t)is.stx_ino, is.stx_btime.tv_sec, is.stx_btime.tv_nsec};
    return fbp_hash(1, what, sizeof what);
}
