/*
 * The modules librabbit_fbp_cuda.so and librabbit_fbp_cpu.so, which RabbitCT's runners load and
 * call (runner.h).  They pass the views to bench/rabbitct/feed.c.
 *
 * A runner of release 1.0.3 announces the views.  The images then lie in memory of the feed, so
 * that they are copied from where the runner put them, asynchronously, and the volume is fetched
 * within the last timed call.  Earlier runners may have a struct that ends after f_L: nothing
 * beyond is looked at, every image is copied first, and what the last, incomplete group of views
 * takes falls into RCTFinishAlgorithm(), as does the volume's way back.  No work goes on while
 * the runner reads from disk, which it does not time: the module waits first.
 */
#include "bench/rabbitct/runner.h"

#include "bench/rabbitct/feed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Views per batch if the runner does not announce the number of views. */
enum { GROUP = 8 };

static struct {
    bool advanced; /* the struct is that of 1.0.3 */
    fbp_feed *feed;
    struct fbp_feed_params params; /* that it was opened with */
    float *volume;                 /* volume in memory of the feed; NULL: the runner allocates it */
    float **buffers, *images;      /* the same */
    size_t n_buffers, image;       /* samples of an image */
    size_t n_views,
        n_in_subset; /* views since the volume was cleared, and since the runner read images */
    bool fetched;
} module;

static bool failed(void)
{
    fprintf(stderr, "librabbit_fbp_%s: %s\n", RABBITCT_DEVICE, fbp_message());
    return false;
}

/* Runners pass no options: $FBP_RABBITCT_DEVICE, _PRECISION and _BATCH are for measuring. */
static const char *setting(const char *name, const char *fallback)
{
    const char *value = getenv(name);
    return value && *value ? value : fallback;
}

static enum fbp_precision precision(void)
{
    const char *name = setting("FBP_RABBITCT_PRECISION", "");

    return strcmp(name, "exact") == 0  ? FBP_PRECISION_EXACT
           : strcmp(name, "fast") == 0 ? FBP_PRECISION_FAST
                                       : FBP_PRECISION_DEFAULT;
}

static struct fbp_feed_params params_of(const struct rabbitct_data *d)
{
    struct fbp_feed_params p = {.struct_size = sizeof p,
                                .device = setting("FBP_RABBITCT_DEVICE", RABBITCT_DEVICE),
                                .precision = precision(),
                                .panel = {d->S_x, d->S_y},
                                .n_views = module.advanced ? d->adv_N : 0,
                                .batch_views = module.advanced ? 0 : GROUP};
    const char *batch = setting("FBP_RABBITCT_BATCH", "");

    if (*batch)
        p.batch_views = (size_t)strtoul(batch, NULL, 10);
    for (int i = 0; i < 3; i++) {
        p.volume.n[i] = d->L;
        p.volume.voxel_mm[i] = (double)d->R_L;
        p.volume.centre_mm[i] = (double)d->O_L + (double)d->R_L * ((double)d->L - 1) / 2;
    }
    return p;
}

static void release(void)
{
    if (module.feed) {
        (void)!fbp_feed_settle(module.feed); /* images may still be copied from */
        fbp_feed_release(module.feed, module.volume);
        fbp_feed_release(module.feed, module.images);
    }
    free((void *)module.buffers);
    fbp_feed_close(&module.feed);
    module.volume = module.images = NULL;
    module.buffers = NULL;
    module.n_buffers = module.n_views = module.n_in_subset = 0;
    module.fetched = false;
}

/* Would they open the feed that is open? */
static bool same_params(const struct fbp_feed_params *a, const struct fbp_feed_params *b)
{
    const struct fbp_grid *g = &a->volume, *h = &b->volume;

    return a->panel.n_columns == b->panel.n_columns && a->panel.n_rows == b->panel.n_rows &&
           a->n_views == b->n_views && a->batch_views == b->batch_views && g->n[0] == h->n[0] &&
           !(fabs(g->voxel_mm[0] - h->voxel_mm[0]) > 0) &&
           !(fabs(g->centre_mm[0] - h->centre_mm[0]) > 0);
}

static bool open_feed(const struct rabbitct_data *d)
{
    const struct fbp_feed_params p = params_of(d);

    if (module.feed && same_params(&p, &module.params))
        return true;
    release();
    module.params = p;
    module.image = (size_t)d->S_x * d->S_y;
    return fbp_feed_open(&module.feed, &p) == FBP_OK || failed();
}

bool RCTPrepareAlgorithm(struct rabbitct_data *d)
{
    module.advanced = true;
    return open_feed(d);
}

/* Allocate image buffers of the feed for the runner; if that fails, the runner uses its own. */
static void make_buffers(struct rabbitct_data *d)
{
    const size_t n = d->adv_numProjBuffers;

    if (n == 0 || d->adv_pProjBuffers)
        return;
    module.buffers = (float **)malloc(n * sizeof *module.buffers);
    if (!module.buffers || fbp_feed_alloc(module.feed, n * module.image * sizeof(float),
                                          (void **)&module.images) != FBP_OK) {
        free((void *)module.buffers);
        module.buffers = NULL;
        return;
    }
    for (size_t i = 0; i < n; i++)
        module.buffers[i] = module.images + i * module.image;
    module.n_buffers = n;
    d->adv_pProjBuffers = module.buffers;
}

bool RCTLoadAlgorithm(struct rabbitct_data *d)
{
    const size_t voxels = (size_t)d->L * d->L * d->L;

    if (!open_feed(d))
        return false;
    if (!module.volume &&
        fbp_feed_alloc(module.feed, voxels * sizeof(float), (void **)&module.volume) != FBP_OK)
        module.volume = NULL; /* then the runner allocates one */
    if (module.volume)
        memset(module.volume, 0, voxels * sizeof(float));
    d->f_L = module.volume;
    if (module.advanced && !module.buffers)
        make_buffers(d);
    return true;
}

/* Whether the image is in memory of the feed, which does not change until the module has waited. */
static bool is_ours(const float *image)
{
    return module.images && image >= module.images &&
           image < module.images + module.n_buffers * module.image;
}

static bool fetch(const struct rabbitct_data *d)
{
    module.fetched = fbp_feed_fetch(module.feed, d->f_L) == FBP_OK;
    return module.fetched || failed();
}

/* After a view: fetch the volume after the last one; wait for the device before the runner reads
 * images. */
static bool go_on(const struct rabbitct_data *d)
{
    bool reads = module.n_views % GROUP == 0;

    if (module.advanced && d->adv_projNumber + 1 == d->adv_N)
        return fetch(d);
    if (module.advanced)
        reads = module.n_in_subset == d->adv_numAvailProjs;
    return !reads || fbp_feed_settle(module.feed) == FBP_OK || failed();
}

bool RCTAlgorithmBackprojection(struct rabbitct_data *d)
{
    double P[12];

    if (!module.feed) {
        fprintf(stderr, "librabbit_fbp_%s: a view came before RCTLoadAlgorithm()\n",
                RABBITCT_DEVICE);
        return false;
    }
    if (module.fetched) /* another volume */
        module.n_views = 0;
    module.fetched = false;
    for (int i = 0; i < 12; i++)
        P[i % 3 * 4 + i / 3] = d->A_n[i];
    if (fbp_feed_add(module.feed, P, d->I_n, is_ours(d->I_n)) != FBP_OK)
        return failed();
    module.n_views++;
    if (module.advanced)
        module.n_in_subset = d->adv_firstProjOfSubset ? 1 : module.n_in_subset + 1;
    return go_on(d);
}

bool RCTFinishAlgorithm(struct rabbitct_data *d)
{
    if (!module.feed || !d->f_L) {
        fprintf(stderr, "librabbit_fbp_%s: there is no volume to finish\n", RABBITCT_DEVICE);
        return false;
    }
    return module.fetched || fetch(d);
}

bool RCTUnloadAlgorithm(struct rabbitct_data *d)
{
    if (module.volume && d->f_L == module.volume)
        d->f_L = NULL;
    if (module.advanced && module.buffers && d->adv_pProjBuffers == module.buffers)
        d->adv_pProjBuffers = NULL;
    release();
    module.advanced = false;
    return true;
}
