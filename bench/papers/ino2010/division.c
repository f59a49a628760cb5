/* Divides the volume of Ino et al. (2010) into boxes of whole columns that fit into the memory
 * of a device; pure arithmetic. Called by measure.c and device.c.
 * Used by: device.c, measure.c. */
#include "bench/papers/ino2010/measure.h"

#include "base/text.h"

static size_t parts(size_t n, size_t of)
{
    return (n + of - 1) / of;
}

/* Divide into B = nx * ny boxes: as square as B allows; a volume in a file into as few as possible
 * along x, because a box of whole rows is contiguous in every slice. */
static bool split(const struct s2_needs *w, size_t b, size_t out[2])
{
    size_t least = SIZE_MAX;

    for (size_t x = 1; x <= b && x <= w->n[0]; x++) {
        const size_t y = b / x, apart = x < y ? y - x : x - y;
        if (b % x != 0 || y > w->n[1] || apart >= least || (w->in_file && least < SIZE_MAX))
            continue;
        least = apart;
        out[0] = x;
        out[1] = y;
    }
    return least < SIZE_MAX;
}

/* Bytes of device memory with `volumes` boxes at a time. */
static uint64_t device_bytes(const struct s2_needs *w, const struct fbp_s2_plan *p, size_t volumes)
{
    return w->fixed_bytes + w->views_bytes + volumes * p->box_bytes;
}

static bool take(const struct s2_needs *w, size_t b, struct fbp_s2_plan *p)
{
    if (!split(w, b, p->split))
        return false;
    p->subvolumes = b;
    p->box[0] = parts(w->n[0], p->split[0]);
    p->box[1] = parts(w->n[1], p->split[1]);
    p->box_bytes = w->box_bytes(w->user, p->box[0], p->box[1]);
    p->volumes =
        b > w->n_devices && (!w->device_limit || device_bytes(w, p, 2) <= w->device_limit) ? 2 : 1;
    p->device_bytes = device_bytes(w, p, p->volumes);
    return !w->device_limit || p->device_bytes <= w->device_limit;
}

static fbp_status too_small(const struct s2_needs *w, const struct fbp_s2_plan *p)
{
    char needs[32], has[32];

    return fbp_fail(FBP_ERR_NOMEM,
                    "ino2010: a box of %zu x %zu x %zu voxels and its views take %s of a device's "
                    "memory, %s may be used: %s",
                    p->box[0], p->box[1], w->n[2],
                    fbp_bytes_text(needs, sizeof needs, p->device_bytes),
                    fbp_bytes_text(has, sizeof has, w->device_limit),
                    w->wanted ? "use more subvolumes" : "raise the limit, or use smaller views");
}

static fbp_status divide_as_given(const struct s2_needs *w, struct fbp_s2_plan *p)
{
    if (w->wanted < w->n_devices)
        return fbp_fail(
            FBP_ERR_INVALID,
            "ino2010: %zu subvolumes are too few for %zu devices: use at least one per device",
            w->wanted, w->n_devices);
    p->given = true;
    if (take(w, w->wanted, p))
        return FBP_OK;
    if (p->subvolumes)
        return too_small(w, p);
    return fbp_fail(FBP_ERR_INVALID,
                    "ino2010: %zu x %zu columns cannot be cut into %zu subvolumes: use another "
                    "number, such as a power of two",
                    w->n[0], w->n[1], w->wanted);
}

fbp_status s2_divide(const struct s2_needs *w, struct fbp_s2_plan *p)
{
    size_t b = 1;

    p->subvolumes = 0;
    if (w->wanted)
        return divide_as_given(w, p);
    while (b < w->n_devices)
        b *= 2;
    for (; b <= w->n[0] * w->n[1]; b *= 2)
        if (take(w, b, p))
            return FBP_OK;
    if (p->subvolumes)
        return too_small(w, p);
    return fbp_fail(FBP_ERR_INVALID,
                    "ino2010: %zu x %zu columns are too few for %zu devices: use fewer devices",
                    w->n[0], w->n[1], w->n_devices);
}

struct fbp_slab s2_box(const struct fbp_s2_plan *p, size_t b)
{
    const size_t i = b % p->split[0], k = b / p->split[0];
    const size_t x0 = i * p->n[0] / p->split[0], x1 = (i + 1) * p->n[0] / p->split[0];
    const size_t y0 = k * p->n[1] / p->split[1], y1 = (k + 1) * p->n[1] / p->split[1];

    return (struct fbp_slab){.x0 = x0, .nx = x1 - x0, .y0 = y0, .ny = y1 - y0, .nz = p->n[2]};
}
