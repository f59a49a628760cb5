/*
 * Reconstructs simulated scans in the files of Varian (.hnd, .hnc, .xim) and Elekta (.his), with
 * their XML: the volume must have the same bits as that of the same counts in a MetaImage, whose
 * scan file names a geometry file of RTK.
 */
#include "recon/fixture.h"
#include "scan/format/importers.h"
#include "unit/linac_files.h"

#include <sys/stat.h>

enum { VIEWS = 36, NC = 48, NR = 32, N = NC * NR };
enum format { HIS, HND, HNC, XIM };

/* How a scan of a format is measured. */
static const struct {
    const char *xml, *views;
    double sdd, pitch[2], shift[2], air;
} machines[] = {
    [HIS] = {"_Frames.xml",
             "%05d.1.3.46.423632.166.his",
             1536,
             {409.6 / NC, 409.6 / NR},
             {-1.5, 2.25},
             65536},
    [HND] = {"ProjectionInfo.xml", "Proj_%05d.hnd", 1500, {6, 6}, {1.5, -0.75}, 139000},
    [HNC] = {"ProjectionInfo.xml", "Proj_%05d.hnc", 1500, {6, 6}, {1.5, -0.75}, 65535},
    [XIM] = {"Scan.xml", "Acquisitions/7/Proj_%05d.xim", 1500, {6, 6}, {2.5, -5}, 0},
};

static char folder[600];

static char *in_folder(const char *name)
{
    return printed("%s/%s", folder, name);
}

static void put(const char *name, struct bytes b)
{
    AUTO_FREE char *path = in_folder(name);
    put_file(path, b.p, b.n);
    free(b.p);
}

static double angle_deg(int k)
{
    return k * 10 - 71.25;
}

/* Readings of the dose chamber, and of that of the air image. */
static int32_t norm_of(int k)
{
    return 1000 + k % 5 * 17;
}

enum { AIR_NORM = 800 };

static int32_t air_of(int i)
{
    return 60000 + i % NC * 800 - i / NC * 90; /* a bowtie */
}

/* Write the XML file of the machine, and RTK's geometry. */
static void write_geometry(enum format f)
{
    char frames[VIEWS * 200] = "<ProjectionSet><Frames>\n", rtk[VIEWS * 400];
    size_t n = strlen(frames), m;

    m = (size_t)snprintf(rtk, sizeof rtk, "<RTKThreeDCircularGeometry version=\"3\">\n");
    for (int k = 0; k < VIEWS; k++) {
        n += (size_t)snprintf(frames + n, sizeof frames - n,
                              "<Frame><GantryAngle>%.17g</GantryAngle><UCentre>%.17g</UCentre>"
                              "<VCentre>%.17g</VCentre></Frame>\n",
                              angle_deg(k), -machines[f].shift[0], -machines[f].shift[1]);
        m += (size_t)snprintf(rtk + m, sizeof rtk - m,
                              "<Projection><GantryAngle>%.17g</GantryAngle>"
                              "<SourceToIsocenterDistance>1000</SourceToIsocenterDistance>"
                              "<SourceToDetectorDistance>%.17g</SourceToDetectorDistance>"
                              "<ProjectionOffsetX>%.17g</ProjectionOffsetX>"
                              "<ProjectionOffsetY>%.17g</ProjectionOffsetY></Projection>\n",
                              angle_deg(k), machines[f].sdd, machines[f].shift[0],
                              machines[f].shift[1]);
    }
    strcat(frames, "</Frames></ProjectionSet>\n");
    strcat(rtk, "</RTKThreeDCircularGeometry>\n");
    AUTO_FREE char *own = in_folder(machines[f].xml), *other = in_folder("rtk.xml");
    const char *text = f == HIS ? frames : f == XIM ? scan_xml : projection_info_xml;
    put_file(own, text, strlen(text));
    put_file(other, rtk, strlen(rtk));
}

static const struct fbp_grid grid = {{24, 24, 16}, {6, 6, 6}, {0, 0, 0}};

/* A scan of line integrals of a head, with RTK's geometry. */
static struct fbp_scan simulated(enum format f)
{
    struct fbp_view views[VIEWS];
    struct fbp_scan scan = {.struct_size = sizeof scan};

    for (int k = 0; k < VIEWS; k++) {
        const struct fbp_rtk p = {.gantry_rad = angle_deg(k) * PI / 180,
                                  .sid_mm = 1000,
                                  .sdd_mm = machines[f].sdd,
                                  .projection_mm = {machines[f].shift[0], machines[f].shift[1]}};
        fbp_rtk_view(&p, machines[f].pitch, (double[2]){0, 0}, &views[k]);
    }
    OK(fbp_scan_vectors(&scan, FBP_CONE, views, VIEWS, (struct fbp_panel){NC, NR}));
    scan.volume = grid;
    simulate_head(&scan, 60);
    return scan;
}

/* Write the views of the machine; counts: the same as they are measured. */
static void write_views(enum format f, const float *p, float *counts)
{
    int32_t numbers[N];

    for (int k = 0; k < VIEWS; k++) {
        AUTO_FREE char *name = printed(machines[f].views, k);
        const struct xim x = {machines[f].pitch[0] / 10, 180 - angle_deg(k),
                              machines[f].shift[0] / 10, machines[f].shift[1] / 10, norm_of(k)};
        for (int i = 0; i < N; i++) {
            const double air =
                f == XIM ? air_of(i) * (double)norm_of(k) / AIR_NORM : machines[f].air - (f == HIS);
            const double count = floor(air * exp(-(double)p[k * N + i]) + 0.5);
            counts[k * N + i] = (float)count;
            numbers[i] = (int32_t)(f == HIS ? 65536 - count : count);
        }
        put(name, f == HIS   ? make_his(numbers, NC, NR, 1)
                  : f == HND ? make_hnd(numbers, NC, NR, machines[f].pitch[0], angle_deg(k))
                  : f == HNC ? make_hnc(numbers, NC, NR, machines[f].pitch[0], angle_deg(k))
                             : make_xim(numbers, NC, NR, &x));
    }
}

/* The scan file of the counts as MetaImage. */
static void write_scan_file(enum format f, const float *counts)
{
    const struct fbp_array_info info = {.struct_size = sizeof info, .n = {NC, NR, VIEWS}};
    AUTO_FREE char *mha = in_folder("counts.mha"), *path = in_folder("scan.json"),
                   *flat = in_folder("flat.mha");
    const struct fbp_array_info one = {.struct_size = sizeof one, .n = {NC, NR, 1}};
    float air[N];
    char doses[VIEWS * 30] = "";

    save_array(mha, &info, NULL, counts);
    for (int i = 0; i < N; i++)
        air[i] = (float)air_of(i);
    save_array(flat, &one, NULL, air);
    for (int k = 0; k < VIEWS; k++)
        snprintf(doses + strlen(doses), sizeof doses - strlen(doses), "%s%.17g", k ? "," : "",
                 norm_of(k) / (double)AIR_NORM);
    FILE *out = not_null(fopen(path, "w"));
    fprintf(out,
            "{\"fbp_scan\": 1, \"projections\": \"counts.mha\", \"geometry\": \"rtk.xml\", "
            "\"detector\": {\"pitch_mm\": [%.17g, %.17g]}, ",
            machines[f].pitch[0], machines[f].pitch[1]);
    if (f == XIM)
        fprintf(out, "\"flat\": \"flat.mha\", \"dose\": [%s]}", doses);
    else
        fprintf(out, "\"i0\": %.17g}", machines[f].air);
    assert_int_equal(fclose(out), 0);
}

static void check(enum format f)
{
    const struct fbp_recon_params *params = fbp_recon_params(.device = "cpu", .n_threads = 2);
    AUTO_DROP struct fbp_scan integrals = simulated(f);
    AUTO_FREE float *p = read_array(integrals.projections);
    AUTO_FREE float *counts = not_null(calloc((size_t)VIEWS * N, sizeof *counts));
    AUTO_FREE char *name = temporary("linac");

    snprintf(folder, sizeof folder, "%s", name);
    AUTO_FREE char *command = printed("rm -rf '%s' && mkdir -p '%s/Acquisitions/7' "
                                      "'%s/Calibrations/AIR-Full/Current'",
                                      folder, folder, folder);
    assert_int_equal(system(command), 0);
    write_geometry(f);
    write_views(f, p, counts);
    write_scan_file(f, counts);
    if (f == XIM) {
        const struct xim x = {machines[f].pitch[0] / 10, 0, 0, 0, AIR_NORM};
        int32_t air[N];
        for (int i = 0; i < N; i++)
            air[i] = air_of(i);
        put("Calibrations/AIR-Full/Current/FilterBowtie.xim", make_xim(air, NC, NR, &x));
    }
    AUTO_FREE char *own = in_folder(machines[f].xml), *other = in_folder("scan.json");
    AUTO_CLEAR struct fbp_scan scan = open_scan(own), same = open_scan(other);
    scan.volume = same.volume = grid;
    AUTO_FREE float *volume = reconstruct(&scan, params);
    AUTO_FREE float *expected = reconstruct(&integrals, params);
    double error = 0, peak = 0;
    for (size_t i = 0; i < grid_size(&grid); i++) {
        error = fmax(error, fabs((double)volume[i] - (double)expected[i]));
        peak = fmax(peak, fabs((double)expected[i]));
    }
    print_message("%s: greatest error %.2e of the peak\n", machines[f].xml, error / peak);
    assert_true(error <= 1e-3 * peak);
    assert_true(reconstruct_hash(&scan, params) == reconstruct_hash(&same, params));
    AUTO_FREE char *drop = printed("rm -rf '%s'", folder);
    assert_int_equal(system(drop), 0);
}

TEST(elekta_his)
{
    check(HIS);
}

TEST(varian_hnd)
{
    check(HND);
}

TEST(varian_hnc)
{
    check(HNC);
}

TEST(varian_xim_with_an_air_image)
{
    check(XIM);
}

TEST_MAIN(NULL, NULL)
