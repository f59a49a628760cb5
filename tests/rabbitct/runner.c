/*
 * Plays RabbitCT's runner: RUNNER MODULE.so DATA.rctd SIZE RELEASE [ALL]
 *
 * RELEASE is 0, 1 or 3 for the interface of 1.0, 1.0.1 and 1.0.3.  The struct ends where a page
 * that may not be touched begins, so that a module that looks beyond the release's fields is
 * killed; images are spoilt as soon as a runner may read others over them.  ALL: all views are read
 * at once.  Prints one JSON object: the times as the benchmark takes them, and the error.
 * Status 77: the module says that it has no device.
 */
#include "bench/rabbitct/runner.h"

#include "bench/rabbitct/rabbitct.h"
#include "fbp/fbp.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

struct calls {
    rabbitct_call *prepare, *load, *backproject, *finish, *unload;
};

struct runner {
    int release;
    bool all;
    struct calls module;
    struct rabbitct_data *data;
    struct fbp_rabbitct_info info;
    double *matrices; /* column by column */
    fbp_source *source;
    float **buffers;        /* of this runner's or the module's */
    float *images, *volume; /* this runner's own; NULL where the module has them */
    size_t n_buffers, n_voxels, side;
    double prepare, load, views, finish; /* seconds */
};

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void die(const char *what)
{
    fprintf(stderr, "runner: %s\n", what);
    exit(1);
}

static void check(fbp_status st)
{
    if (st != FBP_OK)
        die(fbp_message());
}

static void *get(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (!p)
        die("out of memory");
    return p;
}

static rabbitct_call *find(void *handle, const char *name)
{
    rabbitct_call *call;

    *(void **)&call = dlsym(handle, name);
    if (!call)
        die(dlerror());
    return call;
}

static void open_module(struct runner *r, const char *path)
{
    void *handle = dlopen(path, RTLD_LAZY);

    if (!handle)
        die(dlerror());
    r->module =
        (struct calls){r->release == 3 ? find(handle, "RCTPrepareAlgorithm") : NULL,
                       find(handle, "RCTLoadAlgorithm"), find(handle, "RCTAlgorithmBackprojection"),
                       find(handle, "RCTFinishAlgorithm"), find(handle, "RCTUnloadAlgorithm")};
}

/* The struct, as long as the release has it, before a page that nobody may touch. */
static struct rabbitct_data *make_data(int release)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t bytes = release == 0   ? RABBITCT_BYTES_0
                         : release == 1 ? RABBITCT_BYTES_1
                                        : RABBITCT_BYTES_3;
    char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0)
        die("no guarded page");
    return (struct rabbitct_data *)(void *)(at + page - bytes);
}

static void open_set(struct runner *r, const char *path)
{
    double *P;
    size_t n;

    check(fbp_rabbitct_probe(path, &r->info));
    check(fbp_rabbitct_matrices(path, &P, &n));
    check(fbp_source_open(&r->source, path, NULL));
    r->matrices = get(12 * n, sizeof *r->matrices);
    for (size_t i = 0; i < 12 * n; i++)
        r->matrices[i / 12 * 12 + i % 12 % 4 * 3 + i % 12 / 4] = P[i];
    free(P);
}

static void fill_data(struct runner *r, size_t size)
{
    struct rabbitct_data *d = r->data;

    r->n_voxels = size * size * size;
    r->n_buffers = r->release == 0 ? 1 : r->all ? r->info.n_views : (r->info.n_views + 3) / 4;
    d->L = (unsigned)size;
    d->S_x = (unsigned)r->info.n_columns;
    d->S_y = (unsigned)r->info.n_rows;
    d->R_L = 256 / (float)size;
    d->O_L = -0.5f * d->R_L * ((float)size - 1);
    if (r->release >= 1)
        d->adv_numProjBuffers = (unsigned)r->n_buffers;
    if (r->release < 3)
        return;
    d->adv_N = (unsigned)r->info.n_views;
    d->adv_ppProjMatrixBuffers = (double **)get(r->info.n_views, sizeof(double *));
    for (size_t k = 0; k < r->info.n_views; k++)
        d->adv_ppProjMatrixBuffers[k] = r->matrices + 12 * k;
}

static void call(const char *name, rabbitct_call *function, struct rabbitct_data *d,
                 double *seconds)
{
    const double start = now();
    const bool good = function(d);

    *seconds += now() - start;
    if (good)
        return;
    fprintf(stderr, "runner: %s failed\n", name);
    exit(77);
}

static void load(struct runner *r)
{
    struct rabbitct_data *d = r->data;
    const size_t image = r->info.n_columns * r->info.n_rows;

    if (r->module.prepare)
        call("prepare", r->module.prepare, d, &r->prepare);
    call("load", r->module.load, d, &r->load);
    if (!d->f_L)
        d->f_L = r->volume = get(r->n_voxels, sizeof(float));
    if (r->release >= 1 && d->adv_pProjBuffers) {
        r->buffers = d->adv_pProjBuffers;
        return;
    }
    r->images = get(r->n_buffers * image, sizeof(float));
    r->buffers = (float **)get(r->n_buffers, sizeof(float *));
    for (size_t i = 0; i < r->n_buffers; i++)
        r->buffers[i] = r->images + i * image;
    if (r->release >= 1)
        d->adv_pProjBuffers = r->buffers;
}

static void run_part(struct runner *r, size_t first, size_t n)
{
    struct rabbitct_data *d = r->data;
    const size_t image = r->info.n_columns * r->info.n_rows;

    for (size_t i = 0; i < n; i++)
        check(fbp_source_read(r->source, first + i, 1, 0, r->info.n_rows, FBP_F32, r->buffers[i]));
    for (size_t i = 0; i < n; i++) {
        d->A_n = r->matrices + 12 * (first + i);
        d->I_n = r->buffers[i];
        if (r->release == 3) {
            d->adv_projNumber = (unsigned)(first + i);
            d->adv_numAvailProjs = (unsigned)n;
            d->adv_firstProjOfSubset = i == 0;
        }
        call("backprojection", r->module.backproject, d, &r->views);
    }
    for (size_t i = 0; i < n; i++)
        memset(r->buffers[i], 0xff, image * sizeof(float)); /* NaN */
}

/* What the module has not taken back. */
static void release(struct runner *r)
{
    if (r->images)
        free((void *)r->buffers);
    if (r->release == 3)
        free((void *)r->data->adv_ppProjMatrixBuffers);
    free(r->images);
    free(r->volume);
    free(r->matrices);
    fbp_source_close(&r->source);
}

static void print(const struct runner *r, const char *data)
{
    const double updates = (double)r->n_voxels * (double)r->info.n_views;
    struct fbp_rabbitct_error e;
    uint16_t *reference = get(r->n_voxels, sizeof *reference);

    check(fbp_rabbitct_reference(data, r->side, reference));
    fbp_rabbitct_compare(r->data->f_L, reference, r->n_voxels, r->info.hu, &e);
    printf("{\"size\": %zu, \"release\": %d, \"prepare\": %.4f, \"load\": %.4f, \"seconds\": %.5f, "
           "\"finish\": %.4f, \"gups\": %.4g, \"rmse\": %.5f, \"max\": %g}\n",
           r->side, r->release, r->prepare, r->load, r->views, r->finish, updates / r->views * 1e-9,
           e.rmse, e.max);
    free(reference);
}

int main(int argc, char **argv)
{
    struct runner r = {0};

    if (argc < 5)
        die("usage: MODULE DATA SIZE 0|1|3 [ALL]");
    r.release = atoi(argv[4]);
    r.all = argc > 5;
    r.side = (size_t)atoi(argv[3]);
    open_module(&r, argv[1]);
    open_set(&r, argv[2]);
    r.data = make_data(r.release);
    fill_data(&r, r.side);
    load(&r);
    for (size_t first = 0; first < r.info.n_views; first += r.n_buffers)
        run_part(&r, first,
                 r.info.n_views - first < r.n_buffers ? r.info.n_views - first : r.n_buffers);
    call("finish", r.module.finish, r.data, &r.finish);
    print(&r, argv[2]);
    if (!r.module.unload(r.data))
        die("unload failed");
    release(&r);
    return 0;
}
