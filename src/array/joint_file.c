/* The PATH.part that samples were put into is still the file of this name.  A journal says "file 0
 * IDENTITY" before "synced".  Where that is another file by now, it was copied or replaced: its
 * samples are read and compared with the hashes of the journal.  So nothing is refused for its
 * identity alone. */
#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "array/joint.h"

#include "base/cache.h"
#include "base/base.h"
#include "base/threads.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

/* The inode of PATH.part, and the time of its birth where that is known, as a new file may get the
 * inode of one that was removed.  0: unknown. */
static uint64_t identity_of(const struct fbp_sink *s)
{
    struct statx is = {0};

    if (statx(s->fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &is) < 0)
        return 0;
    const int64_t what[] = {(int64_t)is.stx_ino, is.stx_btime.tv_sec, is.stx_btime.tv_nsec};
    return fbp_hash(1, what, sizeof what);
}

fbp_status fbp_joint_note_file(const struct fbp_sink *s)
{
    char line[60];

    if (s->joint->stack || s->chunked) /* a slice, or a part of it, has a file of its own */
        return FBP_OK;
    snprintf(line, sizeof line, "file 0 %016llx\n", (unsigned long long)identity_of(s));
    return fbp_append(s->log_fd, s->log, line);
}

/* Elsewhere each machine, or each mount, gives numbers of its own. */
static bool has_inodes(const struct fbp_sink *s)
{
    static const unsigned others[] = {0x65735546u, 0xff534d42u, 0xfe534d42u}; /* FUSE, CIFS, SMB */
    struct statfs fs;

    if (fstatfs(s->fd, &fs) < 0)
        return false;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if ((unsigned)fs.f_type == others[i])
            return false;
    return true;
}

/* What a process has put into a file that another one has the name of. */
static fbp_status compare(const struct fbp_sink *s, const struct fbp_joint_peer *p, void *scratch)
{
    struct fbp_joint_line line;
    const char *at = p->lines;
    bool whole;

    while (fbp_joint_next(s, p, &at, &line)) {
        if (!line.synced)
            continue;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_joint_compare(s, p, &line, scratch, &whole));
        if (!whole)
            return fbp_fail(FBP_ERR_IO,
                            "%s: has other samples than were written: another program changed it "
                            "while the output was written: put it back and go on, or remove %s* "
                            "and start again",
                            s->part, s->part);
    }
    return FBP_OK;
}

static fbp_status check_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *scratch)
{
    unsigned long long identity;

    for (const char *at = p->lines; at < p->synced; at = strchr(at, '\n') + 1)
        /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is no file's */
        if (sscanf(at, "file 0 %16llx", &identity) == 1 && identity != identity_of(s))
            FBP_TRY(compare(s, p, scratch));
    return FBP_OK;
}

fbp_status fbp_joint_check_file(struct fbp_sink *s)
{
    void *scratch = NULL;

    if (s->joint->stack || s->chunked || !has_inodes(s))
        return FBP_OK;
    FBP_TRY(fbp_alloc(&scratch, FBP_PIECE_BYTES, "a piece of the output"));
    const fbp_status st = fbp_joint_each(s, true, check_peer, scratch);
    fbp_free(scratch);
    return st;
}
