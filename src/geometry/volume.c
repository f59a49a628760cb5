/* Creates, hashes and frees regions (fbp_region_create(), fbp_region_hash()): sets of voxels of a
 * grid that are reconstructed (struct fbp_region of volume.h).
 * Used by: pipeline/job.c, pipeline/region.c. */
#include "geometry/volume.h"

#include "base/cache.h"
#include "base/threads.h"

#include <string.h>

static const char WHAT[] = "the region";

/* For each voxel column x that is in the runs b but not in the runs a of one row: if `begin`, set
 * its first slice to z, unless a lower slice has set it; else set its end to z. */
static void change_columns(const struct fbp_interval *a, size_t na, const struct fbp_interval *b,
                           size_t nb, struct fbp_interval *columns, uint32_t z, bool begin)
{
    for (size_t i = 0, j = 0; i < nb; i++)
        for (uint32_t x = b[i].first; x < b[i].end;) {
            while (j < na && a[j].end <= x)
                j++;
            if (j < na && a[j].first <= x) {
                x = a[j].end;
                continue;
            }
            const uint32_t next = j < na && a[j].first < b[i].end ? a[j].first : b[i].end;
            for (; x < next; x++)
                if (!begin)
                    columns[x].end = z;
                else if (columns[x].end == 0) /* columns[x] has no voxels in lower slices */
                    columns[x].first = z;
        }
}

/* Set the first slice of voxel columns (x, y) that are in the region in slice z but not in slice z
 * - 1, and the end of columns that are in slice z - 1 but not in z. Slices -1 and n[2] count as
 * empty. */
static void change_slice(struct fbp_region *r, size_t z)
{
    for (size_t y = 0; y < r->n[1]; y++) {
        struct fbp_interval *columns = r->columns + y * r->n[0];
        const struct fbp_interval *before = NULL, *now = NULL;
        size_t n_before = 0, n_now = 0;
        if (z > 0)
            before = fbp_region_row(r, y, z - 1, &n_before);
        if (z < r->n[2])
            now = fbp_region_row(r, y, z, &n_now);
        change_columns(before, n_before, now, n_now, columns, (uint32_t)z, true);
        change_columns(now, n_now, before, n_before, columns, (uint32_t)z, false);
    }
}

fbp_status fbp_region_create(struct fbp_region **out, const size_t n[3], const size_t box[3][2],
                             fbp_region_fn *row, void *user)
{
    const uint32_t lo = (uint32_t)box[0][0], hi = (uint32_t)box[0][1];
    const size_t ny = n[1];
    struct fbp_interval *found = NULL; /* runs of one row */
    struct fbp_region *r = NULL;
    size_t z0 = 0, z1 = n[2];
    fbp_status st;

    *out = NULL;
    FBP_TRY(fbp_calloc((void **)&r, 1, sizeof *r, WHAT));
    memcpy(r->n, n, sizeof r->n);
    FBP_TRY_GOTO(fbp_calloc((void **)&r->slices, n[2], sizeof *r->slices, WHAT));
    FBP_TRY_GOTO(fbp_calloc((void **)&r->before, n[2] + 1, sizeof *r->before, WHAT));
    FBP_TRY_GOTO(fbp_calloc((void **)&r->columns, n[0] * n[1], sizeof *r->columns, WHAT));
    FBP_TRY_GOTO(fbp_calloc((void **)&found, n[0] / 2 + 1, sizeof *found, WHAT));
    for (size_t z = 0; z < n[2]; z++) { /* rows are empty outside of the box */
        struct fbp_region_slice *s = &r->slices[z];
        FBP_TRY_GOTO(fbp_check_cancelled());
        *s = (struct fbp_region_slice){r->n_rows, r->n_runs};
        r->before[z + 1] = r->before[z];
        FBP_TRY_GOTO(fbp_reserve((void **)&r->rows, sizeof *r->rows, r->n_rows + ny + 1,
                                 &r->rows_room, WHAT));
        r->rows[r->n_rows++] = 0;
        for (size_t y = 0; y < ny; y++) {
            size_t n_found = 0;
            if (y >= box[1][0] && y < box[1][1] && z >= box[2][0] && z < box[2][1])
                FBP_TRY_GOTO(row(user, y, z, found, &n_found));
            FBP_TRY_GOTO(fbp_reserve((void **)&r->runs, sizeof *r->runs, r->n_runs + n_found,
                                     &r->runs_room, WHAT));
            for (size_t i = 0; i < n_found; i++) {
                const struct fbp_interval run = {found[i].first > lo ? found[i].first : lo,
                                                 found[i].end < hi ? found[i].end : hi};
                if (run.first >= run.end)
                    continue;
                r->runs[r->n_runs++] = run;
                r->before[z + 1] += run.end - run.first;
            }
            r->rows[r->n_rows++] = (uint32_t)(r->n_runs - s->runs);
        }

        const struct fbp_region_slice *below = z ? s - 1 : s;
        const size_t n_below = r->rows[below->rows + ny];
        if (z > 0 &&
            memcmp(r->rows + below->rows, r->rows + s->rows, (ny + 1) * sizeof *r->rows) == 0 &&
            (n_below == 0 ||
             memcmp(r->runs + below->runs, r->runs + s->runs, n_below * sizeof *r->runs) == 0)) {
            r->n_rows = s->rows; /* equal to the slice below: stored once */
            r->n_runs = s->runs;
            *s = *below;
        } else {
            change_slice(r, z);
        }
    }
    change_slice(r, n[2]);
    while (z0 < z1 && r->before[z0 + 1] == 0)
        z0++;
    while (z1 > z0 && r->before[z1 - 1] == r->before[z1])
        z1--;
    r->z0 = z0 < z1 ? z0 : 0;
    r->z1 = z0 < z1 ? z1 : 0;
    *out = r;
    r = NULL;
fail:
    free(found);
    fbp_region_destroy(&r);
    return st;
}

void fbp_region_destroy(struct fbp_region **region)
{
    struct fbp_region *r = *region;

    if (!r)
        return;
    free(r->slices);
    free(r->rows);
    free(r->runs);
    free(r->columns);
    free(r->before);
    free(r);
    *region = NULL;
}

uint64_t fbp_region_hash(uint64_t seed, const struct fbp_region *r)
{
    uint64_t h = fbp_hash(seed, r->n, sizeof r->n);

    for (size_t z = 0; z < r->n[2]; z++) {
        const struct fbp_region_slice *s = &r->slices[z];
        const uint32_t *rows = r->rows + s->rows;
        if (z > 0 && s->rows == r->slices[z - 1].rows)
            continue;
        h = fbp_hash(h, &z, sizeof z);
        h = fbp_hash(h, rows, (r->n[1] + 1) * sizeof *rows);
        h = fbp_hash(h, r->runs + s->runs, rows[r->n[1]] * sizeof *r->runs);
    }
    return h;
}
