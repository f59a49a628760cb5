/* The volume of Ino et al. (2010), which boxes are copied into: memory, or a file without a
 * name, which the system deletes at the end of the process. Called by device.c, run.c and
 * error.c.
 * Used by: device.c, error.c, measure.c, run.c. */
#include "bench/papers/ino2010/measure.h"

#include "array/file/bytes.h"
#include "array/file/outfile.h"
#include "base/base.h"
#include "base/cache.h"
#include "base/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HASHED = 64 };
static const uint64_t ALL_ARE_HASHED = (uint64_t)8 << 30;

static fbp_status check_room(const fbp_s2 *s)
{
    const uint64_t available = fbp_disk_free(s->volume.fd);
    char needs[32], has[32];

    if (available < s->plan.volume_bytes)
        return fbp_fail(FBP_ERR_IO,
                        "%s: the temporary volume needs %s, %s are free: choose another --dir, or "
                        "raise --memory to keep the volume in memory",
                        s->folder, fbp_bytes_text(needs, sizeof needs, s->plan.volume_bytes),
                        fbp_bytes_text(has, sizeof has, available));
    return FBP_OK;
}

static fbp_status open_file(fbp_s2 *s)
{
    s->volume.fd = fbp_open_nameless(s->folder);
    if (s->volume.fd < 0)
        return fbp_fail(FBP_ERR_IO, "%s: cannot create a file: %s: choose another --dir", s->folder,
                        strerror(errno));
    FBP_TRY(check_room(s));
    if (ftruncate(s->volume.fd, (off_t)s->plan.volume_bytes) != 0)
        return fbp_fail(FBP_ERR_IO,
                        "%s: cannot set the size of a temporary file: %s: choose another --dir",
                        s->folder, strerror(errno));
    return FBP_OK;
}

fbp_status s2_volume_open(fbp_s2 *s)
{
    if (s->plan.in_file)
        return open_file(s);
    return s->backend->memory.host_alloc(s->keeper, (size_t)s->plan.volume_bytes, "the volume",
                                         (void **)&s->volume.voxels);
}

void s2_volume_close(fbp_s2 *s)
{
    if (s->keeper)
        fbp_host_put(s->backend, s->keeper, s->volume.voxels);
    if (s->volume.fd >= 0)
        (void)close(s->volume.fd);
    s->volume = (struct s2_volume){.fd = -1};
}

/* Slices of a box that are being copied into the volume. */
struct put {
    const fbp_s2 *s;
    const struct fbp_slab *box;
    size_t z0;
    const float *voxels;
};

/* Copy one slice: row by row, or at once if the box has whole rows. */
static fbp_status put_slice(void *user, size_t item, int worker)
{
    const struct put *p = user;
    const size_t nx = p->s->plan.n[0], ny = p->s->plan.n[1];
    const bool whole = p->box->nx == nx;
    const size_t length = whole ? nx * p->box->ny : p->box->nx;
    const float *from = p->voxels + item * p->box->nx * p->box->ny;
    const struct s2_volume *v = &p->s->volume;

    (void)worker;
    for (size_t y = 0; y < (whole ? 1 : p->box->ny); y++, from += length) {
        const size_t to = ((p->z0 + item) * ny + p->box->y0 + y) * nx + p->box->x0;
        if (v->voxels)
            memcpy(v->voxels + to, from, length * sizeof *from);
        else
            FBP_TRY(
                fbp_write_at(v->fd, p->s->folder, to * sizeof *from, from, length * sizeof *from));
    }
    return FBP_OK;
}

fbp_status s2_volume_put(const fbp_s2 *s, fbp_pool *pool, const struct fbp_slab *box, size_t z0,
                         size_t z1, const float *voxels)
{
    struct put p = {.s = s, .box = box, .z0 = z0, .voxels = voxels};

    return fbp_pool_try(pool, z1 - z0, put_slice, &p);
}

fbp_status s2_volume_get(const fbp_s2 *s, size_t z0, size_t z1, float *out)
{
    const size_t slice = s->plan.n[0] * s->plan.n[1], n = (z1 - z0) * slice;

    if (!s->volume.voxels)
        return fbp_read_at(s->volume.fd, s->folder, z0 * slice * sizeof *out, out, n * sizeof *out);
    memcpy(out, s->volume.voxels + z0 * slice, n * sizeof *out);
    return FBP_OK;
}

struct hashes {
    const fbp_s2 *s;
    size_t n;        /* slices */
    uint64_t *slice; /* of each */
};

static fbp_status hash_slice(void *user, size_t item, int worker)
{
    const struct hashes *h = user;
    const struct fbp_s2_plan *p = &h->s->plan;
    const size_t n = p->n[0] * p->n[1], z = item * p->n[2] / h->n;
    float *own = NULL;

    (void)worker;
    if (h->s->volume.voxels) {
        h->slice[item] = fbp_hash(z, h->s->volume.voxels + z * n, n * sizeof *own);
        return FBP_OK;
    }
    FBP_TRY(fbp_alloc((void **)&own, n * sizeof *own, "a slice"));
    const fbp_status st = s2_volume_get(h->s, z, z + 1, own);
    if (st == FBP_OK)
        h->slice[item] = fbp_hash(z, own, n * sizeof *own);
    fbp_free(own);
    return st;
}

fbp_status s2_volume_hash(const fbp_s2 *s, uint64_t *out)
{
    struct hashes h = {.s = s, .n = s->plan.n[2]};

    if (s->plan.volume_bytes > ALL_ARE_HASHED && h.n > HASHED)
        h.n = HASHED;
    FBP_TRY(fbp_calloc((void **)&h.slice, h.n, sizeof *h.slice, "hashes"));
    const fbp_status st = fbp_pool_try(s->pool, h.n, hash_slice, &h);
    if (st == FBP_OK)
        *out = fbp_hash(0, h.slice, h.n * sizeof *h.slice);
    free(h.slice);
    return st;
}
