/* Whole files to begin with, by the library's own writers, as text, and out of the unit tests. */
#include "harness.h"
#include "seeds_foreign.h"

#include "array/array.h"
#include "bench/rabbitct/rabbitct.h"
#include "fbp/geometry_file.h"
#include "geometry/view.h"
#include "unit/foreign_texts.h"
#include "unit/linac_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { NX = 6, NY = 4, NZ = 5, N = NX * NY * NZ };

static void put(const char *folder, const char *name, const char *text, size_t n)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(text, 1, n, f) != n || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void put_text(const char *folder, const char *name, const char *text)
{
    put(folder, name, text, strlen(text));
}

const char *fuzz_seed_path(const char *folder, const char *name, int number, const char *extension)
{
    static char path[600];

    snprintf(path, sizeof path, "%s/%s.%d%s", folder, name, number, extension);
    return path;
}

/* A header whose samples are beside it must name the ones that lie beside inputs: p.raw, … */
static void take_header(const char *folder, const char *extension, int number)
{
    static const char *const beside[] = {"p.raw", "p.zraw", "p.raw.gz"};
    char path[600];

    snprintf(path, sizeof path, "%s/p%s", folder, extension);
    if (rename(path, fuzz_seed_path(folder, "seed", number, extension)) != 0)
        perror(path);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, beside[i]);
        unlink(path);
    }
}

/* An array under the target's extension, plain and, where it is known, compressed. */
static void seed_array(const struct fuzz_target *t, const char *folder)
{
    const struct fbp_array_info info = {.struct_size = sizeof info,
                                        .n = {NX, NY, NZ},
                                        .has_spacing = true,
                                        .spacing_mm = {1, 2, 3},
                                        .origin_mm = {-1, 0, 1},
                                        .unit = "1/mm"};
    const char *extension = strchr(t->file, '.');
    const bool alone = strcmp(extension, ".mhd") != 0 && strcmp(extension, ".nhdr") != 0;
    float v[N];
    char path[600];

    for (int i = 0; i < N; i++)
        v[i] = (float)(i * i % 17);
    for (int pack = 0; pack < 2; pack++) {
        const struct fbp_sink_params p = {.struct_size = sizeof p, .compress = pack};
        fbp_sink *s = NULL;
        if (alone)
            snprintf(path, sizeof path, "%s/seed%d%s", folder, pack, extension);
        else
            snprintf(path, sizeof path, "%s/p%s", folder, extension);
        if (fbp_sink_open(&s, path, &info, &p) == FBP_OK &&
            fbp_sink_write(s, 0, NZ, FBP_F32, v) == FBP_OK)
            (void)!fbp_sink_finish(s);
        fbp_sink_close(&s);
        if (!alone)
            take_header(folder, extension, pack);
    }
}

/* A circle with a turned panel, parallel and cone, in the target's format. */
static void seed_geometry(const struct fuzz_target *t, const char *folder)
{
    double angles[NZ], sod = 500, sdd = 900;
    struct fbp_view views[NZ];
    char path[600];

    for (int kind = 0; kind < 4; kind++) {
        struct fbp_scan scan = {.struct_size = sizeof scan,
                                .kind = kind & 1 ? FBP_PARALLEL : FBP_CONE,
                                .n_views = NZ,
                                .panel = {NX, NY},
                                .views = views};
        struct fbp_circle circle = {.struct_size = sizeof circle,
                                    .kind = scan.kind,
                                    .n_views = NZ,
                                    .angles_rad = angles,
                                    .sod_mm = &sod,
                                    .sdd_mm = &sdd,
                                    .n_sod = 1,
                                    .n_sdd = 1,
                                    .pitch_mm = {0.8, kind & 2 ? 0.8 : 0.7},
                                    .offset_mm = {kind & 2 ? 0 : 1.5, 0},
                                    .tilt_rad = {0, 0, kind & 2 ? 0 : 0.05}};
        scan.volume = (struct fbp_grid){.n = {4, 4, 4}, .voxel_mm = {1, 1, 1}};
        for (int k = 0; k < NZ; k++)
            angles[k] = 1.2566370614359172 * k;
        snprintf(path, sizeof path, "%s/seed%d%s", folder, kind, strchr(t->file, '.'));
        if (fbp_circle_views(&circle, views) == FBP_OK)
            (void)!fbp_geometry_save(&scan, path, t->key);
    }
}

#define DETECTOR "\"detector\": {\"pitch_mm\": [0.8, 0.7], \"row_order\": \"top-down\"}"
#define MATRIX   "[-2.5,1000,0,1250,-1.5,0,1000,750,-0.001,0,0,0.5]"

static void seed_scans(const char *folder)
{
    put_text(folder, "cone.json",
             "{\"fbp_scan\": 1, \"kind\": \"cone\", \"projections\": \"p.mha\", " DETECTOR
             ", \"source_to_axis_mm\": 500, \"source_to_detector_mm\": [800,801,802,803,804],"
             " \"angles_deg\": {\"start\": 10, \"step\": 72}, \"angular_weights\": \"equal\","
             " \"dark\": \"dark.mha\", \"flat\": \"flat.mha\", \"i0\": 60000,"
             " \"bad_pixels\": \"dark.mha\","
             " \"volume\": {\"size\": [3,4,5], \"voxel_mm\": 0.5, \"centre_mm\": [1,2,3]}}");
    put_text(folder, "raw.json",
             "{\"fbp_scan\": 1, \"kind\": \"parallel\", \"projections\": \"p.raw\","
             " \"raw\": {\"type\": \"float32\", \"shape\": [5,4,6], \"big_endian\": true,"
             " \"header_bytes\": 0}, \"detector\": {\"pitch_mm\": 0.5, \"tilt_deg\": [1,2,3],"
             " \"skew_deg\": 0.5}, \"angles_deg\": [0,30,90,100,170], \"filtered\": true}");
    put_text(folder, "matrices.json",
             "{\"fbp_scan\": 1, \"projections\": \"p.mha\", \"detector\": {\"pitch_mm\": 0.5},"
             " \"matrix_origin\": \"corner\", \"matrices\": [" MATRIX "," MATRIX "," MATRIX
             "," MATRIX "," MATRIX "]}");
    put_text(folder, "geometry.json",
             "{\"fbp_scan\": 1, \"projections\": \"p.mha\", \"detector\": {\"pitch_mm\": 0.5},"
             " \"geometry\": \"m.txt\"}");
    put_text(folder, "views.json",
             "{\"fbp_scan\": 1, \"projections\": \"p.mha\", \"detector\": {\"pitch_mm\": 0.5},"
             " \"views\": [[500,0,0,-400,0,0,0,1,0,0,0,1]]}");
    put_text(folder, "planes.json",
             "{\"fbp_scan\": 1, \"kind\": \"planes\", \"projections\": \"p.raw\","
             " \"raw\": {\"type\": \"float32\", \"shape\": [5,1,24]}, \"spacing_mm\": 0.5,"
             " \"directions\": [[1,0,0],[0,1,0],[0,0,1],[0.6,0.8,0],[0,0.6,-0.8]],"
             " \"first_mm\": [-1,-1.1,-1.2,-1.3,-1.4], \"gradients\": [1,2,3,2,1],"
             " \"weights\": [1,2,1,2,1], \"volume\": {\"size\": 4, \"voxel_mm\": 0.5}}");
    put_text(folder, "set.json",
             "{\"fbp_scan\": 1, \"kind\": \"planes\", \"projections\": \"p.raw\","
             " \"raw\": {\"type\": \"float32\", \"shape\": [5,1,24]}, \"spacing_mm\": 0.5,"
             " \"directions\": {\"set\": \"fibonacci\", \"n\": 5, \"order\": \"msps\","
             " \"pole\": \"x\"}, \"weights\": \"voronoi\", \"grid\": \"eprit\"}");
    put_text(folder, "prepared.json",
             "{\"fbp_scan\": 1, \"kind\": \"planes\", \"projections\": \"p.raw\","
             " \"raw\": {\"type\": \"float32\", \"shape\": [5,1,24]}, \"spacing_mm\": 0.5,"
             " \"directions\": {\"set\": \"fibonacci\", \"n\": 5},"
             " \"prepare\": {\"baseline\": 1, \"baseline_samples\": [0,4,20,24],"
             " \"profile\": \"flat.mha\", \"profile_threshold\": 0.3}}");
    put_text(folder, "resampled.json",
             "{\"fbp_scan\": 1, \"kind\": \"planes\", \"projections\": \"p.raw\","
             " \"raw\": {\"type\": \"float32\", \"shape\": [5,1,6], \"header_bytes\": 360},"
             " \"directions\": {\"set\": \"fibonacci\", \"n\": 5}, \"gradients\": [1,2,1,2,1],"
             " \"prepare\": {\"resample\": [1,2,3.5,4,5.5,6]}}");
    put_text(folder, "self.json",
             "{\"fbp_scan\": 1, \"projections\": \"p.mha\", \"geometry\": \"input.json\"}");
    put_text(folder, "pattern.json",
             "{\"fbp_scan\": 1, \"projections\": \"p%d.mha 1 5\", " DETECTOR "}");
}

/* The header, 5 images of 6 x 4 and their matrices, as docs/rabbitct.md has them, by the writer. */
static void seed_rabbitct(const char *folder)
{
    const double angle[NZ] = {0, 1, 2, 3, 4}, sod = 500, sdd = 900;
    struct fbp_view views[NZ];
    struct fbp_circle circle = {.struct_size = sizeof circle,
                                .n_views = NZ,
                                .angles_rad = angle,
                                .sod_mm = &sod,
                                .sdd_mm = &sdd,
                                .n_sod = 1,
                                .n_sdd = 1,
                                .pitch_mm = {0.8, 0.8}};
    char from[600], path[600];
    struct fbp_scan scan = {.struct_size = sizeof scan,
                            .n_views = NZ,
                            .panel = {NX, NY},
                            .views = views,
                            .projections = from};
    const struct fuzz_target mha = {.file = "p.mha"};

    seed_array(&mha, folder);
    snprintf(from, sizeof from, "%s/seed0.mha", folder);
    for (int version = 1; version < 3; version++) {
        const struct fbp_rabbitct_make make = {.struct_size = sizeof make, .version = version};
        snprintf(path, sizeof path, "%s/v%d.rct%s", folder, version, version == 2 ? "d" : "");
        if (fbp_circle_views(&circle, views) == FBP_OK)
            (void)!fbp_rabbitct_create(path, &scan, &make);
    }
    unlink(from);
    snprintf(from, sizeof from, "%s/seed1.mha", folder);
    unlink(from);
}

static void seed_result(const char *folder)
{
    const uint64_t us[2] = {10, 20};
    const float slice[16] = {1, 2, 3};
    const struct fbp_rabbitct_result r = {
        .version = 2, .size = 4, .n_views = 2, .us = us, .slice = slice};
    char path[600];

    snprintf(path, sizeof path, "%s/seed.res", folder);
    (void)!fbp_rabbitct_result_write(path, &r);
}

static void seed_raw(const char *folder)
{
    /* float32 of 2 x 2 x 2 behind 24 bytes, and uint8 of as many slices as there are */
    char whole[24 + 32] = {7, 0, 0, 24, 2, 0, 0, 0, 2, 0, 0, 0, 2},
                    open[56] = {1, 1, 0, 0, 8, 0, 0, 0, 7};

    put(folder, "whole.raw", whole, sizeof whole);
    put(folder, "open.raw", open, sizeof open);
}

/* Two complex numbers. */
static void seed_complex(const char *folder)
{
    char all[80 + 16] = "\x93NUMPY\x01\0\x46";

    memset(all + 10, ' ', 69);
    memcpy(all + 10, "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1, 2), }", 62);
    all[79] = '\n';
    put(folder, "complex.npy", all, sizeof all);
}

/* A chunk of 6 x 4 x 5 floats, packed. */
static void seed_chunk(const char *folder)
{
    float v[N];
    unsigned char packed[1024];
    uLongf size = sizeof packed;

    for (int i = 0; i < N; i++)
        v[i] = (float)(i * i % 17);
    if (compress(packed, &size, (const unsigned char *)v, sizeof v) == Z_OK)
        put(folder, "chunk.bin", (const char *)packed, size);
}

/* Formats whose files are text, in the terms of other programs. */
/* 120 numbers of four bytes are beside inputs. */
#define bes3t_image                                                                               \
    "#DESC\t1.2 * DESCRIPTOR\r\n*\r\nBSEQ\tBIG\r\nIKKF\tREAL\r\nXTYP\tIDX\r\nIRFMT\tF\r\n"        \
    "XPTS\t10\r\nXMIN\t330.5\r\nXWID\t90\r\nYPTS\t12\r\nXUNI\t'G'\r\n#SPL\t1.2\r\nGRAD\t14.0\r\n" \
    "IMTY\t3D\r\n#DSL\t1.0\r\n.DVC     grdUnit, 1.0\r\nAnglePsi  14.0 G/cm\r\n"                   \
    "FieldOfView  20.00 mm\r\nFirstAlpha  22.5 deg\r\nImageType  3D\r\nNPixel  4\r\n"             \
    "NrOfAlpha  4\r\nNrOfBeta  3\r\n"

static void seed_texts(const struct fuzz_target *t, const char *folder)
{
    const struct {
        const char *target, *name, *text;
    } texts[] = {
        {"matrices", "m.txt", "# two views\n1 0 0 0 0 1 0 0 0 0 1 9\n1,0,0,0 0 1 0 0 0 0 1 9\n"},
        {"directions", "commas.csv", "x,y,z\n1,0,0\n0,1,0\n0,0.6,-0.8\n"},
        {"directions", "blanks.txt", "# three\n1 0 0\n0 1 0\n0 0 1\n"},
        {"array.mhd", "packed.mhd",
         "NDims = 3\nDimSize = 6 4 5\nElementType = MET_FLOAT\nElementSpacing = 1 2 3\n"
         "CompressedData = True\nElementDataFile = p.zraw\n"},
        {"array.nrrd", "turned.nrrd",
         "NRRD0005\n# of a scanner\ntype: short\ndimension: 3\nspace: left-posterior-superior\n"
         "sizes: 2 2 2\nspace directions: (0,1,0) (-1,0,0) (0,0,2.5)\nkinds: domain domain domain\n"
         "endian: big\nencoding: raw\nspace origin: (1,2,3)\nspace units: \"mm\" \"mm\" \"mm\"\n"
         "key:=value\n\n1234567890123456"},
        {"array.nrrd", "flat.nrrd",
         "NRRD0004\ntype: uchar\ndimension: 2\nsizes: 2 2\nspacings: 0.5 0.5\nencoding: raw\n"
         "byte skip: -1\n\n1234"},
        {"array.nhdr", "list.nhdr",
         "NRRD0004\ntype: float\ndimension: 3\nsizes: 6 4 2\nendian: little\nencoding: raw\n"
         "thicknesses: nan nan 2\nbyte skip: 96\ndata file: LIST\np.raw\np.raw\n"},
        {"array.nhdr", "pattern.nhdr",
         "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 6 4 5\nencoding: raw\nline skip: 0\n"
         "data file: p.raw%d 1 5 1 2\n"},
        {"array.vgi", "unsigned.vgi",
         "{volume1}\n[file1]\nSize = 6 4 5\nName = p.raw\nDatatype = unsigned integer\n"
         "BitsPerElement = 16\nMirror = 0 1 1\nSkipHeader = 2\n{volumeprimitive1}\n[geometry]\n"
         "resolution = 0.05 0.05 0.06\nunit = mm\n"},
        {"array.vgi", "float.vgi",
         "[file1]\nFileFormat = raw\nSize = 6 4 5\nName = C:\\p.raw\nDatatype = float\n"},
        {"array.dsc", "complex.dsc",
         "#DESC\t1.2\nBSEQ\tLIT\nIKKF\tCPLX\nIRFMT\tF\nXPTS\t12\nYPTS\t5\nZPTS\t1\n"},
        {"array.dsc", "image.dsc", bes3t_image},
        {"geometry.bes3t", "image.dsc", bes3t_image},
        {"zarr.array", "plain.json", ZARR_ARRAY("null")},
        {"zarr.array", "packed.json", ZARR_ARRAY("{\"id\": \"gzip\", \"level\": 5}")},
        {"zarr.image", "image.json",
         "{\"multiscales\": [{\"version\": \"0.4\", \"axes\": ["
         "{\"name\": \"z\", \"type\": \"space\", \"unit\": \"millimeter\"}, "
         "{\"name\": \"y\", \"type\": \"space\", \"unit\": \"millimeter\"}, "
         "{\"name\": \"x\", \"type\": \"space\", \"unit\": \"micrometer\"}], "
         "\"datasets\": [{\"path\": \"0\", \"coordinateTransformations\": ["
         "{\"type\": \"scale\", \"scale\": [3, 2, 1]}, "
         "{\"type\": \"translation\", \"translation\": [1, 0, -1]}]}]}]}"},
        {"phantom", "ball.txt", "0 0 0 80 80 80 0 0.02  # a ball\n1 2 3 4 5 6 7 -1e-3\n"},
        {"geometry.tigre-json", "geo.json", tigre_json},
        {"geometry.ctsimu", "scenario.json", ctsimu_scenario},
        {"geometry.ctsimu", "metadata.json", ctsimu_metadata},
        {"geometry.openct", "openct.json", openct_json},
        {"geometry.nikon", "walnut.xtekct", nikon_xtekct},
        {"geometry.bruker", "embryo.log", bruker_log},
        {"geometry.pca", "phoenix.pca", phoenix_pca},
        {"geometry.plastimatch", "view.txt", plastimatch_txt},
        {"geometry.linac", "obi.xml", projection_info_xml},
        {"geometry.linac", "true-beam.xml", scan_xml},
        {"geometry.linac", "xvi.xml", frames_xml},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(t->name, texts[i].target) == 0)
            put_text(folder, texts[i].name, texts[i].text);
}

void fuzz_seeds(const struct fuzz_target *t, const char *folder)
{
    const struct {
        const char *name;
        void (*seed)(const char *folder);
    } others[] = {{"scan", seed_scans},
                  {"raw", seed_raw},
                  {"zarr.chunk", seed_chunk},
                  {"rabbitct", seed_rabbitct},
                  {"result", seed_result},
                  {"array.rct", seed_rabbitct},
                  {"array.rctd", seed_rabbitct},
                  {"array.npy", seed_complex},
                  {"array.h5", fuzz_seeds_hdf5_arrays},
                  {"array.mat", fuzz_seeds_mat_arrays},
                  {"array.tif", fuzz_seeds_tiff},
                  {"array.png", fuzz_seeds_png},
                  {"array.nii", fuzz_seeds_nifti},
                  {"array.nii.gz", fuzz_seeds_nifti_gz},
                  {"array.hdr", fuzz_seeds_nifti_pairs},
                  {"array.his", fuzz_seeds_his},
                  {"array.txrm", fuzz_seeds_txrm},
                  {"geometry.txrm", fuzz_seeds_txrm},
                  {"array.hnd", fuzz_seeds_varian},
                  {"array.hnc", fuzz_seeds_varian},
                  {"array.xim", fuzz_seeds_varian},
                  {"geometry.rabbitct", seed_rabbitct},
                  {"geometry.hdf5", fuzz_seeds_hdf5_scans},
                  {"geometry.helsinki", fuzz_seeds_mat_scans},
                  {"geometry.eprit", fuzz_seeds_mat_eprit},
                  {"geometry.tigre", fuzz_seeds_mat_tigre}};

    if (strncmp(t->name, "array.", 6) == 0 || strcmp(t->name, "compare") == 0)
        seed_array(t, folder);
    if (strncmp(t->name, "geometry.", 9) == 0)
        seed_geometry(t, folder);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(t->name, others[i].name) == 0)
            others[i].seed(folder);
    seed_texts(t, folder);
}
