#include "plan/part_layers.h"

#include "plan/cut.h"
#include "plan/roi.h"

/* The volume, and where it is cut by cost alone. */
struct cuts {
    const struct fbp_job *whole;
    struct fbp_cut cut;
    size_t n, n_parts;
};

static size_t by_cost(const struct cuts *c, size_t i)
{
    return c->whole->matrices ? fbp_cut_layer(&c->cut, c->n, c->n_parts, i) : i * c->n / c->n_parts;
}

/* How far up, in layers, the nearest border of files of the output is from the first slice of a
 * layer.  Of mirrored slices the upper ones count, and where the box has none of these, the lower
 * ones: both lie at borders where the box is a number of whole files. */
static ptrdiff_t to_border(const struct fbp_job *job, size_t layer)
{
    const ptrdiff_t files = (ptrdiff_t)job->same_files, nz = (ptrdiff_t)job->grid.n[2];
    const ptrdiff_t first = (ptrdiff_t)fbp_roi_first(job, 2);
    const ptrdiff_t end = first + (ptrdiff_t)fbp_roi_size(job, 2);
    const ptrdiff_t z = (ptrdiff_t)fbp_layer_slice(job, layer);
    const bool lower = job->mirrored && end <= nz / 2;
    const ptrdiff_t beyond = (((lower ? nz - z : z) - first) % files + files) % files;
    const ptrdiff_t up = 2 * beyond <= files ? -beyond : files - beyond;

    return lower ? -up : up;
}

/* The first layer of part i, from 0.  It is moved to a border of files if that is no farther than
 * an eighth of the parts on both sides of it, so that each keeps three quarters at least. */
static size_t cut_at(const struct cuts *c, size_t i)
{
    const size_t at = by_cost(c, i);
    size_t first, n;

    if (!c->whole->same_files || i == 0 || i == c->n_parts)
        return at;
    fbp_roi_layers(c->whole, &first, &n);
    const size_t below = at - by_cost(c, i - 1), above = by_cost(c, i + 1) - at;
    const ptrdiff_t move = to_border(c->whole, first + at);
    const size_t far = (size_t)(move < 0 ? -move : move), least = below < above ? below : above;
    return far <= least / 8 ? at + (size_t)move : at;
}

static fbp_status check_number(struct fbp_part_of of, size_t n, bool mirrored)
{
    if (of.n_parts <= n)
        return FBP_OK;
    if (n == 1)
        return fbp_fail(FBP_ERR_INVALID,
                        "part %zu of %zu: there is only one %s to compute: leave the parts out",
                        of.part, of.n_parts, mirrored ? "pair of mirrored slices" : "slice");
    return fbp_fail(FBP_ERR_INVALID,
                    "part %zu of %zu: there are only %zu %s to share out: give at most %zu parts",
                    of.part, of.n_parts, n, mirrored ? "pairs of mirrored slices" : "slices", n);
}

fbp_status fbp_part_share(const struct fbp_job *job, struct fbp_part_of of, size_t share[2])
{
    struct fbp_job whole = *job;
    struct cuts cuts = {.whole = &whole, .n_parts = of.n_parts};
    size_t first;

    whole.share[0] = whole.share[1] = 0;
    fbp_roi_layers(&whole, &first, &cuts.n);
    FBP_TRY(check_number(of, cuts.n, job->mirrored != 0));
    if (job->matrices)
        fbp_cut_find(&whole, &cuts.cut);
    for (size_t i = 0; i < 2; i++)
        share[i] = cut_at(&cuts, of.part - 1 + i);
    return FBP_OK;
}
