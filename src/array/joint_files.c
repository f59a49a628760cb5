/* The files that samples were put into are still those that have their names.  A journal says "file
 * K IDENTITY" of each, before "synced": of PATH.part, or of the pieces of a split output.  What is
 * another file by now was copied, or replaced: its samples are read, and compared with the hashes
 * of the journal.  So nothing is refused for its identity alone. */
#include "array/file/bytes.h"
#include "array/file/identity.h"
#include "array/file/outfile.h"
#include "array/joint.h"
#include "array/split.h"

#include "base/mem.h"
#include "base/stop.h"

#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>

static fbp_status note_file(const struct fbp_sink *s, size_t k, uint64_t identity)
{
    char line[60];

    snprintf(line, sizeof line, "file %zu %016llx\n", k, (unsigned long long)identity);
    return fbp_append(s->log_fd, s->log, line);
}

fbp_status fbp_joint_note_files(const struct fbp_sink *s)
{
    if (s->joint->stack || s->chunked) /* a slice, or a part of it, has a file of its own */
        return FBP_OK;
    if (!s->split)
        return note_file(s, 0, fbp_file_identity(s->fd, ""));
    for (size_t k = 0; k < s->split->pieces.n_files; k++)
        if (s->split->open[k].put)
            FBP_TRY(note_file(s, k, s->split->open[k].identity));
    return FBP_OK;
}

/* Those that have the names now. */
struct files {
    size_t n;
    uint64_t *identity;
    void *scratch; /* FBP_PIECE_BYTES */
};

static void look_at_files(const struct fbp_sink *s, struct files *f)
{
    for (size_t k = 0; k < f->n; k++)
        f->identity[k] = s->split ? fbp_file_identity(s->split->dir, s->split->pieces.file[k].name)
                                  : fbp_file_identity(s->fd, "");
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

static fbp_status changed(const struct fbp_sink *s, size_t k)
{
    if (s->split)
        return fbp_split_lost(s, k, "has other samples than were written");
    return fbp_fail(FBP_ERR_IO,
                    "%s: has other samples than were written: another program changed it while the "
                    "output was written: put it back and go on, or remove %s* and start again",
                    s->part, s->part);
}

/* What a process has put into a file that another one has the name of. */
static fbp_status compare(const struct fbp_sink *s, const struct fbp_joint_peer *p, size_t k,
                          void *scratch)
{
    const struct fbp_split_file all = {.z0 = 0, .nz = s->info.n[2]};
    const struct fbp_split_file *f = s->split ? &s->split->pieces.file[k] : &all;
    struct fbp_joint_line line;
    const char *at = p->lines;
    bool whole;

    while (fbp_joint_next(s, p, &at, &line)) {
        if (!line.synced || line.z0 >= f->z0 + f->nz || line.z0 + line.nz <= f->z0)
            continue;
        FBP_TRY(fbp_go_on());
        FBP_TRY(fbp_joint_compare(s, p, &line, scratch, &whole));
        if (!whole)
            return changed(s, k);
    }
    return FBP_OK;
}

static fbp_status check_peer(struct fbp_sink *s, struct fbp_joint_peer *p, void *user)
{
    const struct files *f = user;
    unsigned long long identity;
    size_t k;

    for (const char *at = p->lines; at < p->synced; at = strchr(at, '\n') + 1)
        /* NOLINTNEXTLINE(cert-err34-c): a number that is too large is no file's */
        if (sscanf(at, "file %zu %16llx", &k, &identity) == 2 && k < f->n &&
            f->identity[k] != identity)
            FBP_TRY(compare(s, p, k, f->scratch));
    return FBP_OK;
}

fbp_status fbp_joint_check_files(struct fbp_sink *s)
{
    struct files f = {.n = s->split ? s->split->pieces.n_files : 1};
    fbp_status st;

    if (s->joint->stack || s->chunked || !has_inodes(s))
        return FBP_OK;
    FBP_TRY_GOTO(fbp_calloc((void **)&f.identity, f.n, sizeof *f.identity, "a table of files"));
    FBP_TRY_GOTO(fbp_alloc(&f.scratch, FBP_PIECE_BYTES, "a piece of the output"));
    look_at_files(s, &f);
    st = fbp_joint_each(s, true, check_peer, &f);
fail:
    fbp_free(f.scratch);
    free(f.identity);
    return st;
}
