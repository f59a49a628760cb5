/* fbp_slab_box(): the slab that a device computes for a requested box of voxels.  fbp-bench
 * (bench/papers/ino2010) and tests call it. */
#include "backend/slab.h"

#include "base/base.h"

fbp_status fbp_slab_box(const struct fbp_job *job, const size_t box[3][2], struct fbp_slab *out)
{
    const size_t *most = job->grid.n;
    static const char axes[] = "xyz";

    for (int i = 0; i < 3; i++)
        if (box[i][0] >= box[i][1] || box[i][1] > most[i])
            return fbp_fail(FBP_ERR_INVALID,
                            "slab: voxels %zu:%zu along %c: there are 0:%zu (the end is excluded)",
                            box[i][0], box[i][1], axes[i], most[i]);
    *out = (struct fbp_slab){.x0 = box[0][0],
                             .nx = box[0][1] - box[0][0],
                             .y0 = box[1][0],
                             .ny = box[1][1] - box[1][0],
                             .z0 = box[2][0],
                             .nz = box[2][1] - box[2][0]};
    if (job->selection.boxes || (out->nx == most[0] && out->ny == most[1]))
        return FBP_OK;
    return fbp_fail(FBP_ERR_UNSUPPORTED,
                    "slab: kernel %s computes whole slices of %zu x %zu voxels, not %zu x %zu of "
                    "them: use kernel \"matrix\", or whole slices",
                    job->selection.name, most[0], most[1], out->nx, out->ny);
}
