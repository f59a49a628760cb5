/* Checks integer outputs whose range is taken from the volume: least and greatest value are
 * exact, the file does not depend on memory, nothing else is left, and an interrupted run is
 * resumed. */
#include "recon/fixture.h"

#include "array/array.h"

#include <glob.h>
#include <sys/stat.h>

enum { N = 40, VOXELS = N * N * N };

static struct fbp_scan make_scan(void)
{
    struct fbp_scan scan = circle_scan(60, N, 7);

    simulate_head(&scan, 90);
    return scan;
}

static fbp_status run(struct fbp_scan *scan, const struct fbp_recon_params *params,
                      const char *output, struct fbp_report *report)
{
    struct fbp_recon_params p = *params;

    p.struct_size = sizeof p;
    p.device = "cpu";
    p.output.auto_range = true;
    return reconstruct_to(scan, &p, output, report);
}

/* Files whose names start with the path; those of a folder that it is count, too. */
static size_t files_at(const char *path)
{
    glob_t found;

    AUTO_FREE char *pattern = printed("%s*", path);
    const size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

static char *bytes_of(const char *path, size_t *n)
{
    FILE *f = not_null(fopen(path, "rb"));
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *out = not_null(malloc(*n));
    assert_int_equal(fread(out, 1, *n, f), *n);
    fclose(f);
    return out;
}

static void assert_same_files(const char *a, const char *b)
{
    size_t n, m;
    AUTO_FREE char *x = bytes_of(a, &n), *y = bytes_of(b, &m);

    assert_int_equal(n, m);
    assert_memory_equal(x, y, n);
}

/* Half a step off at most, and the ends are stored as the ends. */
static void assert_values(const char *path, const float *want, enum fbp_type type, double lo,
                          double hi)
{
    CLEANUP(fbp_source_close) fbp_source *src = open_source(path, NULL);
    const double step = (hi - lo) / (type == FBP_U8 ? 255 : 65535);
    AUTO_FREE float *got = not_null(malloc(VOXELS * sizeof *got));
    assert_int_equal(fbp_source_info(src)->type, type);
    OK(fbp_source_read(src, 0, N, 0, N, FBP_F32, got));
    for (size_t i = 0; i < VOXELS; i++)
        if (!(fabs((double)got[i] - (double)want[i]) <= step * 0.5001 + 1e-9))
            fail_msg("%s: voxel %zu: %g, not %g", path, i, (double)got[i], (double)want[i]);
}

TEST(range_is_the_volumes)
{
    static const char *const names[] = {"range.mha", "range.nii.gz", "range.tif", "range.h5"};
    static const enum fbp_type types[] = {FBP_U8, FBP_U16};
    static const struct fbp_recon_params ways[] = {
        {.n_threads = 1}, {.n_threads = 2, .tuning.slab_slices = 6, .tuning.batch_views = 8}};
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_FREE float *want = reconstruct(&scan, fbp_recon_params(.device = "cpu"));
    float lo = want[0], hi = want[0];

    for (size_t i = 0; i < VOXELS; i++) {
        lo = fminf(lo, want[i]);
        hi = fmaxf(hi, want[i]);
    }
    for (size_t k = 0; k < 4; k++)
        for (size_t t = 0; t < 2; t++) {
            char *path[2] = {temporary(names[k]), NULL};

            AUTO_FREE char *other = printed("other-%s", names[k]);
            path[1] = temporary(other);
            for (size_t w = 0; w < 2; w++) {
                struct fbp_recon_params p = ways[w];
                struct fbp_report report = {.struct_size = sizeof report};
                p.output.type = types[t];
                OK(run(&scan, &p, path[w], &report));
                assert_true(report.output_range[0] == (double)lo);
                assert_true(fabs(report.output_range[1] - (double)hi) < 1e-12);
                assert_int_equal(report.output_clipped, 0);
                assert_int_equal(files_at(path[w]), 1);
            }
            assert_values(path[0], want, types[t], (double)lo, (double)hi);
            assert_same_files(path[0], path[1]);
            for (int i = 0; i < 2; i++) {
                remove(path[i]);
                free(path[i]);
            }
        }
}

/* Stop where so much is done; in the conversion, all is. */
struct stopper {
    bool converting;
    int calls;
};

static int stop(void *user, const struct fbp_progress *p)
{
    struct stopper *s = user;

    if (s->converting)
        return p->done == p->total && p->slabs_done == p->n_slabs && ++s->calls == 3;
    return p->slabs_done >= 2;
}

/* In the middle of the volume, or of its conversion: the old output stays, and --resume goes on. */
TEST(interrupted)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    AUTO_REMOVE char *path = temporary("stopped.tif"), *want = temporary("whole.tif");
    struct fbp_recon_params p = {.output.type = FBP_U16, .tuning.slab_slices = 4, .n_threads = 1};
    struct fbp_report report = {.struct_size = sizeof report};

    OK(run(&scan, &p, want, NULL));
    for (int converting = 0; converting < 2; converting++) {
        struct stopper s = {.converting = converting};
        FILE *f = fopen(path, "w");
        fputs("older", f);
        fclose(f);
        p.callbacks.progress = stop;
        p.callbacks.user = &s;
        p.output.resume = false;
        assert_int_equal(run(&scan, &p, path, &report), FBP_ERR_CANCELLED);
        size_t n;
        AUTO_FREE char *old = bytes_of(path, &n);
        assert_int_equal(n, 5);
        assert_true(files_at(path) > 1);
        p.callbacks.progress = NULL;
        p.output.resume = true;
        OK(run(&scan, &p, path, &report));
        assert_true(converting ? report.slabs_resumed == 10 : report.slabs_resumed >= 1);
        assert_same_files(path, want);
        assert_int_equal(files_at(path), 1);
    }
}

/* A stack's floats are beside its folder. */
TEST(of_a_stack)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    char *folder = temporary("pngs"), pattern[1000], file[1100];
    struct fbp_recon_params p = {.output.type = FBP_U8};
    struct fbp_report report = {.struct_size = sizeof report};

    snprintf(pattern, sizeof pattern, "%s/%%02d.png", folder);
    OK(run(&scan, &p, pattern, &report));
    assert_int_equal(files_at(folder), 1);
    snprintf(file, sizeof file, "%s/", folder);
    assert_int_equal(files_at(file), N);
    for (int k = 0; k < N; k++) {
        snprintf(file, sizeof file, "%s/%02d.png", folder, k);
        remove(file);
    }
    rmdir(folder);
    free(folder);
    OK(run(&scan, &p, "null:", &report));
    assert_true(report.output_range[0] == report.min && report.output_scale > 0);
}

/* One value, and none. */
TEST(odd_volumes)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {2, 2, 1}};
    const struct fbp_sink_params p = {.struct_size = sizeof p, .type = FBP_U8};
    const float all[3][4] = {{3, 3, 3, 3}, {NAN, -1, INFINITY, 2}, {NAN, NAN, NAN, -INFINITY}};
    const double want[2][2] = {{3, 6}, {-1, 2}};
    AUTO_FREE char *path = temporary("odd.mha");

    for (size_t i = 0; i < 3; i++) {
        double range[2] = {0, 0};
        fbp_sink *values;
        OK(fbp_spool_open(&values, path, &info, &p));
        OK(fbp_sink_write(values, 0, 1, FBP_F32, all[i]));
        const fbp_status st = fbp_spool_range(values, range);
        assert_int_equal(st, i < 2 ? FBP_OK : FBP_ERR_INVALID);
        assert_true(i == 2 || (range[0] == want[i][0] && range[1] == want[i][1]));
        fbp_spool_discard(&values);
        assert_int_equal(files_at(path), 0);
    }
}

TEST(what_does_not_go_together)
{
    AUTO_DROP struct fbp_scan scan = make_scan();
    fbp_plan *plan;

    assert_int_equal(fbp_plan_create(&plan, &scan, fbp_recon_params(.output.auto_range = true)),
                     FBP_ERR_INVALID);
    assert_int_equal(
        fbp_plan_create(&plan, &scan,
                        fbp_recon_params(.output.auto_range = true, .output.type = FBP_U8,
                                         .output.range = {0, 1})),
        FBP_ERR_INVALID);
}

TEST_MAIN(NULL, NULL)
