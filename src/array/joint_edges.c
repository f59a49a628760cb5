/* Where the bytes of a process are: in the common file, but for those of pages that it shares. */
#include "array/file/bytes.h"
#include "array/joint.h"

#include "base/base.h"

#include <sys/stat.h>
#include <unistd.h>

/* A run of slices, as bytes of the common file, and its whole stripes [lo, hi); lo == hi: none, and
 * the run is shorter than two. */
struct span {
    uint64_t a, b, lo, hi;
};

/* Bytes that lie one behind the other in one file. */
struct place {
    int fd;
    const char *path;
    uint64_t at, n;
};

fbp_status fbp_joint_runs(const unsigned char *mine, size_t n, struct fbp_joint_edges *out)
{
    size_t runs = 0;

    for (size_t z = 0; z < n; z++)
        runs += mine[z] && (z == 0 || !mine[z - 1]);
    FBP_TRY(fbp_calloc((void **)&out->runs, runs ? runs : 1, sizeof *out->runs, "runs of slices"));
    for (size_t z = 0; z < n; z++) {
        if (!mine[z])
            continue;
        if (z == 0 || !mine[z - 1])
            out->runs[out->n_runs++].z0 = z;
        out->runs[out->n_runs - 1].nz++;
    }
    return FBP_OK;
}

bool fbp_joint_is_mine(const struct fbp_sink *s, size_t z0, size_t nz)
{
    for (size_t z = z0; z < z0 + nz; z++)
        if (s->joint->mine[z])
            return true;
    return false;
}

void fbp_joint_edges_clear(struct fbp_joint_edges *e)
{
    if (e->fd >= 0)
        close(e->fd);
    free(e->path);
    free(e->runs);
    *e = (struct fbp_joint_edges){.fd = -1};
}

static struct span span_of(const struct fbp_sink *s, const struct fbp_joint_edges *e, size_t i)
{
    struct span out = {.a = s->part_offset + e->runs[i].z0 * (uint64_t)s->slice_bytes};

    out.b = out.a + e->runs[i].nz * (uint64_t)s->slice_bytes;
    out.lo = (out.a + e->stripe - 1) / e->stripe * e->stripe;
    out.hi = out.b / e->stripe * e->stripe;
    if (s->chunked && e->runs[i].z0 + e->runs[i].nz == s->info.n[2])
        out.hi = out.b; /* the last layer ends there, and nobody has the rest of it */
    if (out.lo >= out.hi)
        out.lo = out.hi = out.b;
    return out;
}

/* Where [at, at + n) begins, and how much of it lies there; n 0: it is in no run. */
static struct place place_of(const struct fbp_sink *s, const struct fbp_joint_edges *e, uint64_t at,
                             uint64_t n)
{
    for (size_t i = 0; i < e->n_runs; i++) {
        const struct span r = span_of(s, e, i);
        const uint64_t kept = 2 * i * e->stripe; /* of this run, in the file of edges */
        if (at < r.a || at >= r.b)
            continue;
        const uint64_t end = at < r.lo ? r.lo : at < r.hi ? r.hi : r.b;
        const uint64_t left = end - at < n ? end - at : n;
        if (at < r.lo)
            return (struct place){e->fd, e->path, kept + (at - r.a), left};
        if (at < r.hi)
            return (struct place){s->fd, s->part, at, left};
        return (struct place){e->fd, e->path, kept + e->stripe + (at - r.hi), left};
    }
    return (struct place){.n = 0};
}

bool fbp_joint_is_apart(const struct fbp_sink *s, const struct fbp_joint_edges *e, size_t z)
{
    const struct place p = place_of(s, e, s->part_offset + z * (uint64_t)s->slice_bytes, 1);

    return p.n > 0 && p.fd != s->fd;
}

/* Where in the file of edges those bytes of [a, b) end that are there; 0: none of them is. */
static uint64_t edges_end(const struct fbp_sink *s, const struct fbp_joint_edges *e, uint64_t a,
                          uint64_t b)
{
    uint64_t end = 0;

    for (size_t i = 0; i < e->n_runs; i++) {
        const struct span r = span_of(s, e, i);
        const uint64_t kept = 2 * i * e->stripe;
        const uint64_t lo = b < r.lo ? b : r.lo, hi = b < r.b ? b : r.b;
        if (a < r.lo && lo > r.a)
            end = kept + (lo - r.a);
        if (a < r.b && hi > r.hi)
            end = kept + e->stripe + (hi - r.hi);
    }
    return end;
}

bool fbp_joint_has_edges(const struct fbp_sink *s, const struct fbp_joint_edges *e, size_t z0,
                         size_t nz)
{
    const uint64_t a = s->part_offset + z0 * (uint64_t)s->slice_bytes;
    const uint64_t end = edges_end(s, e, a, a + nz * (uint64_t)s->slice_bytes);
    struct stat st;

    return end == 0 || (e->fd >= 0 && fstat(e->fd, &st) == 0 && (uint64_t)st.st_size >= end);
}

fbp_status fbp_joint_put(void *sink, uint64_t at, const void *data, size_t n)
{
    const struct fbp_sink *s = sink;

    for (const char *from = data; n > 0;) {
        const struct place p = place_of(s, &s->joint->edges, at, n);
        if (p.n == 0)
            return fbp_fail(FBP_ERR_INVALID, "%s: slice %llu is not this part's", s->path,
                            (unsigned long long)((at - s->part_offset) / s->slice_bytes));
        FBP_TRY(p.fd == s->fd ? fbp_sink_put(s, p.at, from, p.n)
                              : fbp_write_at(p.fd, p.path, p.at, from, p.n));
        from += p.n;
        at += p.n;
        n -= p.n;
    }
    return FBP_OK;
}

fbp_status fbp_joint_get(const struct fbp_sink *s, const struct fbp_joint_edges *e, uint64_t at,
                         void *out, size_t n)
{
    for (char *to = out; n > 0;) {
        const struct place p = place_of(s, e, at, n);
        if (p.n == 0 || p.fd < 0)
            return fbp_fail(FBP_ERR_IO, "%s: there is no file of its edges", s->path);
        FBP_TRY(p.fd == s->fd ? fbp_sink_get(s, p.at, to, p.n)
                              : fbp_read_at(p.fd, p.path, p.at, to, p.n));
        to += p.n;
        at += p.n;
        n -= p.n;
    }
    return FBP_OK;
}

fbp_status fbp_joint_copy_edges(const struct fbp_sink *s, const struct fbp_joint_edges *e,
                                size_t z0, size_t nz, void *scratch)
{
    uint64_t at = s->part_offset + z0 * (uint64_t)s->slice_bytes;
    const uint64_t end = at + nz * (uint64_t)s->slice_bytes;

    while (at < end) {
        struct place p = place_of(s, e, at, end - at);
        if (p.n == 0)
            return fbp_fail(FBP_ERR_IO, "%s: is damaged: remove it and all files %s*", e->path,
                            s->part);
        if (p.fd == s->fd) {
            at += p.n;
            continue;
        }
        p.n = p.n < FBP_PIECE_BYTES ? p.n : FBP_PIECE_BYTES;
        FBP_TRY(fbp_read_at(p.fd, p.path, p.at, scratch, p.n));
        FBP_TRY(fbp_sink_put(s, at, scratch, p.n));
        at += p.n;
    }
    return FBP_OK;
}
