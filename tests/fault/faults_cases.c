/* The commands that faults are tried in, and their inputs: all tiny. */
#include "faults.h"
#include "fuzz/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAST      " --threads 2 -q"
#define TO_JSON   " ../in/%s -o g.json -q"
#define ZARR_PART "recon ../in/cone.json -o v.ome.zarr" FAST " --part "
#define H5_PART   "recon ../in/cone.json -o v.h5" FAST " --part "

const char *const fault_inputs[] = {
    "simulate --size 16 --views 12 --scale 0.02 -o cone.json -q",
    "simulate --size 16 --views 12 --detector 24x1 --scale 0.02 -o fan.json -q",
    "simulate --size 16 --views 4 --scale 0.02 -o few.json -q", /* checking all flips takes long */
    "recon cone.json -o v.mha" FAST,
    "recon cone.json -o w.mha --filter hann" FAST,
    "recon cone.json -o v.nrrd --compress" FAST,
    "recon cone.json -o v.nhdr --compress" FAST,
    "recon cone.json -o v.mhd" FAST,
    "recon cone.json -o v.npy" FAST,
    "recon cone.json -o v.nii.gz" FAST,
    "recon cone.json -o v.h5" FAST,
    "recon cone.json -o v.tif" FAST,
    "recon cone.json -o tifs/%03d.tif" FAST,
    "recon cone.json -o pngs/%03d.png --output-type uint16 --output-range=-1,1" FAST,
    "rabbitct make cone.json -o set.rctd --references 1 --device cpu -q",
    "rabbitct run set.rctd --size 128 --device cpu --volume g.vol",
    "simulate --size 16 --views 12 --scale 0.02 -o both/scan.json -q",
    "simulate --kind planes --directions solid-angle:4 --size 8 --samples 16 -o planes.json -q",
    "simulate --kind planes --directions solid-angle:10 --size 8 --samples 64 -o prj.mat -q",
    NULL,
};

const struct fault_seeds fault_seeds[] = {
    {"array.mha", "info ../in/%s", 0},
    {"array.mhd", "info ../in/%s", 0},
    {"array.nrrd", "info ../in/%s", 0},
    {"array.nhdr", "info ../in/%s", 0},
    {"array.nii", "info ../in/%s", FAULT_QUICK},
    {"array.nii.gz", "info ../in/%s", 0},
    {"array.npy", "info ../in/%s", 0},
    {"array.h5", "info ../in/%s", FAULT_QUICK | FAULT_ZEROS},
    {"array.mat", "info ../in/%s", FAULT_QUICK},
    {"array.tif", "info ../in/%s", FAULT_QUICK},
    {"array.png", "info ../in/%s", FAULT_QUICK},
    {"array.his", "info ../in/%s", 0},
    {"array.hnd", "info ../in/%s", 0},
    {"array.xim", "info ../in/%s", 0},
    {"array.txrm", "info ../in/%s", 0},
    {"array.vgi", "info ../in/%s", 0},
    {"geometry.txrm", "recon ../in/%s -o v.mha --size 4" FAST, FAULT_QUICK},
    {"scan", "recon ../in/%s -o v.mha --size 4" FAST, 0},
    {"geometry.hdf5", "recon ../in/%s -o v.mha --size 4" FAST, FAULT_ZEROS},
    {"geometry.helsinki", "recon ../in/%s -o v.mha --size 4" FAST, FAULT_QUICK},
    {"scan", "geometry convert" TO_JSON, 0},
    {"geometry.tigre", "geometry convert" TO_JSON, 0},
    {"geometry.tigre-json", "geometry convert" TO_JSON, 0},
    {"geometry.astra", "geometry convert" TO_JSON, 0},
    {"geometry.astra-cone-vec",
     "geometry convert" TO_JSON " --from-format astra-cone-vec --detector 6x4", 0},
    {"geometry.bruker", "geometry convert" TO_JSON, 0},
    {"geometry.ctsimu", "geometry convert" TO_JSON, 0},
    {"geometry.hdf5", "geometry convert" TO_JSON, FAULT_ZEROS},
    {"geometry.leap", "geometry convert" TO_JSON, 0},
    {"geometry.linac", "recon ../in/%s -o v.mha --size 4" FAST, FAULT_QUICK},
    {"geometry.openct", "geometry convert" TO_JSON, 0},
    {"geometry.nikon", "geometry convert" TO_JSON, 0},
    {"geometry.pca", "geometry convert" TO_JSON, 0},
    {"geometry.plastimatch", "geometry convert" TO_JSON " --detector 6x4", 0},
    {"geometry.rtk", "geometry convert" TO_JSON " --detector 6x4 --pitch 0.8,0.8", FAULT_QUICK},
    {"geometry.matrices", "geometry convert" TO_JSON " --detector 6x4 --pitch 0.8,0.8", 0},
    {NULL, NULL, 0},
};

const struct fault_case fault_cases[] = {
    {"recon mha", "recon ../in/cone.json -o v.mha" FAST, NULL, FAULT_QUICK},
    {"recon two devices", "recon ../in/cone.json -o v.mha --device mock:0,1 --slab 2" FAST, NULL,
     FAULT_QUICK | FAULT_CALLOC},
    {"recon mha over an old one", "recon ../in/cone.json -o v.mha" FAST, "old", 0},
    {"recon mhd", "recon ../in/cone.json -o v.mhd" FAST, NULL, 0},
    {"recon mha compressed", "recon ../in/cone.json -o v.mha --compress" FAST, NULL, 0},
    {"recon nhdr compressed", "recon ../in/cone.json -o v.nhdr --compress" FAST, NULL, 0},
    {"recon nrrd", "recon ../in/cone.json -o v.nrrd" FAST, NULL, 0},
    {"recon npy", "recon ../in/cone.json -o v.npy" FAST, NULL, 0},
    {"recon raw", "recon ../in/cone.json -o v.raw" FAST, NULL, 0},
    {"recon nii.gz", "recon ../in/cone.json -o v.nii.gz" FAST, NULL, 0},
    {"recon h5", "recon ../in/cone.json -o v.h5" FAST, NULL, 0},
    {"recon h5 over an old one", "recon ../in/cone.json -o v.h5" FAST, "old-h5", FAULT_RESUME},
    {"recon h5 part", H5_PART "1/2", NULL, FAULT_BEGINS},
    {"recon h5 last part", "recon ../in/cone.json -o v.h5 --threads 2 --part 2/2", "half-h5",
     FAULT_QUICK | FAULT_FILES},
    {"recon zarr", "recon ../in/cone.json -o v.ome.zarr" FAST, NULL, FAULT_RESUME},
    {"recon zarr over an old one", "recon ../in/cone.json -o v.ome.zarr --threads 2", "old-zarr",
     FAULT_RESUME},
    {"recon zarr part", ZARR_PART "1/2", NULL, FAULT_BEGINS},
    {"recon zarr last part", "recon ../in/cone.json -o v.ome.zarr --threads 2 --part 2/2",
     "half-zarr", FAULT_QUICK | FAULT_FILES},
    {"recon tif", "recon ../in/cone.json -o v.tif" FAST, NULL, 0},
    {"recon tif stack", "recon ../in/cone.json -o s/%02d.tif --size 6" FAST, NULL, 0},
    {"recon png stack",
     "recon ../in/cone.json -o s/%02d.png --size 6 --output-type uint16 --output-range=-1,1" FAST,
     NULL, FAULT_QUICK},
    {"recon png stack over an old one",
     "recon ../in/cone.json -o s/%02d.png --size 6 --output-type uint16 --output-range=-1,1" FAST,
     "old-stack", 0},
    {"recon hash", "recon ../in/cone.json -o hash:" FAST, NULL, 0},
    {"recon ref", "recon ../in/cone.json -o v.mha --size 4 --device ref" FAST, NULL, 0},
    {"recon fan", "recon ../in/fan.json -o v.mha --json" FAST, NULL, 0},
    {"recon slabs", "recon ../in/cone.json -o v.mha --slab 4 --batch 4" FAST, NULL, 0},
    {"recon cutoff-v", "recon ../in/cone.json -o v.mha --cutoff-v 0.5" FAST, NULL, 0},
    {"recon spatial", "recon ../in/cone.json -o v.mha --spatial" FAST, NULL, 0},
    {"recon slice", "recon ../in/cone.json -o slice.png --slice 8" FAST, NULL, 0},
    {"recon report", "recon ../in/cone.json -o v.mha --report r.html" FAST, NULL, 0},
    {"recon preview", "recon ../in/cone.json -o v.mha --preview p.png --timeline t.svg" FAST, NULL,
     0},
    {"recon sweep",
     "recon ../in/cone.json -o sheet.png --sweep centre=11:12:0.5 --curve c.svg" FAST, NULL, 0},
    {"recon hu", "recon ../in/cone.json -o v.mha --hu-from-roi 0,0,0,30" FAST, NULL, 0},
    {"recon plan", "recon ../in/cone.json -o v.mha --plan --json" FAST, NULL, 0},
    {"recon rctd", "recon ../in/set.rctd -o v.mha --size 4" FAST, NULL, 0},
    {"recon from nii.gz", "recon ../in/nii.gz.json -o v.mha" FAST, NULL, 0},
    {"recon from nrrd", "recon ../in/nrrd.json -o v.mha" FAST, NULL, 0},
    {"recon from h5", "recon ../in/h5.json -o v.mha" FAST, NULL, FAULT_QUICK | FAULT_ZEROS},
    {"recon from tif", "recon ../in/tif.json -o v.mha" FAST, NULL, 0},
    {"recon from tifs", "recon ../in/tifs.json -o v.mha" FAST, NULL, FAULT_QUICK},
    {"recon from pngs", "recon ../in/pngs.json -o v.mha" FAST, NULL, 0},
    {"recon mhd, packed", "recon ../in/mhd.json -o v.mha" FAST, NULL, 0},
    {"recon from npy", "recon ../in/npy.json -o v.mha" FAST, NULL, 0},
    {"recon folder", "recon ../in/both -o v.mha --threads 2", NULL, 0},
    {"recon box", "recon ../in/cone.json -o v.mha --roi 4:12,:,2:9" FAST, NULL, 0},
    {"recon region", "recon ../in/cone.json -o v.mha --region ball:0,0,0,30 --slab 4 --mask 0" FAST,
     NULL, 0},
    {"recon region of a mask", "recon ../in/cone.json -o u.mha --region ../in/v.mha" FAST, NULL,
     FAULT_QUICK},
    {"recon every bin", "recon ../in/cone.json -o v.mha --every 2 --bin 2" FAST, NULL, 0},
    {"recon pad mask", "recon ../in/cone.json -o v.mha --pad ellipse --mask -1" FAST, NULL, 0},
    {"recon auto range",
     "recon ../in/cone.json -o v.mha --output-type uint8 --output-range auto" FAST, NULL, 0},
    {"recon centre auto", "recon ../in/cone.json -o v.mha --size 8 --centre auto" FAST, NULL, 0},
    {"recon follow", "recon ../in/cone.json -o v.mha --follow --follow-timeout 5" FAST, NULL, 0},
    {"recon planes to mat", "recon ../in/planes.json -o v.mat" FAST, NULL, 0},
    {"recon prj.mat", "recon ../in/prj.mat -o v.mha" FAST, NULL, 0},
    {"recon prepared",
     "recon ../in/planes.json -o v.mha --prepare baseline=1,profile=../in/profile.txt" FAST, NULL,
     0},
    {"recon traces", "recon ../in/epr/traces.json -o v.mha" FAST, NULL, FAULT_QUICK},
    {"recon spectrometer", "recon ../in/bruker/image.DSC -o v.mha" FAST, NULL, 0},
    {"recon resume", "recon ../in/cone.json -o v.mha --slab 4 --resume" FAST, "begun", 0},
    {"simulate", "simulate --size 8 --views 6 -o s.json --truth t.mha" FAST, NULL, FAULT_QUICK},
    {"simulate over an old one", "simulate --size 8 --views 6 -o s.json -q --force", "old-scan", 0},
    {"simulate noise", "simulate --size 8 --views 6 --noise 1e4 -o s.json" FAST, NULL, 0},
    {"simulate prj.mat",
     "simulate --kind planes --directions solid-angle:4 --size 8 --samples 16 -o prj.mat" FAST,
     NULL, FAULT_QUICK},
    {"simulate c-arm", "simulate --size 8 --views 6 --trajectory c-arm -o s.json" FAST, NULL, 0},
    {"simulate phantom", "simulate --size 8 --views 6 --phantom ../in/ball.txt -o s.json" FAST,
     NULL, 0},
    {"view", "view ../in/v.mha -o p.png -q", NULL, FAULT_QUICK},
    {"view over an old one", "view ../in/v.mha -o p.png -q", "old-scan", 0},
    {"view page", "view ../in/v.mha -o p.html -q", NULL, FAULT_QUICK},
    {"view page over an old one", "view ../in/v.nii.gz -o p.html --page-size 256K -q", "old-scan",
     0},
    {"view stack", "view ../in/pngs -o p.png -q", NULL, 0},
    {"view mip", "view ../in/v.nii.gz -o p.png --mip -q", NULL, 0},
    {"view turned", "view ../in/v.mha -o p.png --mip --turn 30 -q", NULL, 0},
    {"compare", "compare ../in/v.mha ../in/w.mha", NULL, FAULT_QUICK},
    {"compare json", "compare ../in/v.h5 ../in/v.tif --json", NULL, 0},
    {"info scan", "info ../in/cone.json --json", NULL, FAULT_QUICK},
    {"info rctd", "info ../in/set.rctd --json", NULL, FAULT_QUICK | FAULT_EVERY},
    {"info stack", "info ../in/pngs --json", NULL, 0},
    {"init", "init ../in/views --pitch 1 --sod 100 --sdd 200 -o s.json", NULL, FAULT_QUICK},
    {"init over an old one", "init ../in/views --pitch 1 --sod 100 --sdd 200 -o s.json --force",
     "old-scan", 0},
    {"init json", "init ../in/views --pitch 1 --sod 100 --sdd 200 --json", NULL, 0},
    {"init stdout", "init ../in/views --pitch 1 --sod 100 --sdd 200", NULL, 0},
    {"init spectrometer", "init ../in/bruker -o s.json", NULL, FAULT_QUICK},
    {"init directions", "init ../in/listed --pitch 1 -o s.json", NULL, 0},
    {"info spectrometer", "info ../in/bruker/image.DSC", NULL, 0},
    {"plan", "plan ../in/cone.json --json", NULL, 0},
    {"geometry show", "geometry show ../in/cone.json -o g.svg -q", NULL, 0},
    {"geometry check", "geometry check ../in/few.json --json", NULL, FAULT_QUICK},
    {"convert fbp", "geometry convert ../in/cone.json -o g.json -q", NULL,
     FAULT_QUICK | FAULT_EVERY},
    {"convert over an old one", "geometry convert ../in/cone.json -o s.json -q --force", "old-scan",
     0},
    {"convert rtk", "geometry convert ../in/cone.json -o g.xml -q", NULL, 0},
    {"convert astra", "geometry convert ../in/cone.json -o g.npy --to-format astra-cone-vec -q",
     NULL, 0},
    {"convert tigre", "geometry convert ../in/cone.json -o g.json --to-format tigre -q", NULL, 0},
    {"convert leap", "geometry convert ../in/cone.json -o g.txt --to-format leap -q", NULL, 0},
    {"convert matrices", "geometry convert ../in/cone.json -o g.txt --to-format matrices -q", NULL,
     0},
    {"convert plastimatch", "geometry convert ../in/cone.json -o g_%02d.txt -q", NULL, 0},
    {"rabbitct make", "rabbitct make ../in/cone.json -o set.rctd --references 1 --device cpu -q",
     NULL, 0},
    {"rabbitct run", "rabbitct run ../in/set.rctd --size 128 --device cpu -o r.rctd --volume g.vol",
     NULL, 0},
    {"rabbitct compare", "rabbitct compare ../in/g.vol ../in/set.rctd", NULL, 0},
    {"rabbitct convert", "rabbitct convert ../in/set.rctd -o set.rct", NULL, 0},
    {"devices", "devices --json", NULL, FAULT_VARIES}, /* free memory */
    {"bench kernel",
     "bench kernel --job J1 --divide 64 --kernel matrix --device cpu --precision exact --threads 2",
     NULL, 0},
    {"bench pipeline", "bench pipeline --size 8 --views 6 --dir . --threads 2 -q", NULL, 0},
    {"bench host", "bench host --job J1 --divide 64 --runs 1 --device cpu --threads 2", NULL, 0},
    {"bench write", "bench write --size 8 --dir . --threads 2", NULL, FAULT_VARIES},
    {"bench S0", "bench S0 --size 16 --views 12 --device cpu --dir . --threads 2 -q", NULL,
     FAULT_VARIES},
    {"bench follow",
     "bench follow --divide 64 --runs 1 --rate 2000 --device cpu --dir . --threads 2 -q", NULL,
     FAULT_VARIES},
    {"help", "recon --help", NULL, 0},
    {"replace a view", "view ../in/pngs/003.png -o ../in/pngs/003.png -q", NULL,
     FAULT_QUICK | FAULT_EVERY | FAULT_REFUSED},
    {"replace other data sets", "recon ../in/cone.json -o ../in/v.h5:/other" FAST, NULL,
     FAULT_REFUSED},
    {"replace data sets, old format",
     "recon ../in/cone.json -o ../in/array.h5/array.0.h5:/other" FAST, NULL, FAULT_REFUSED},
    {"two outputs of one name", "simulate --size 8 --views 6 -o s.json --truth ../run/s.mha -q",
     NULL, FAULT_REFUSED},
    {"replace samples", "recon ../in/cone.json -o ../in/cone.mha" FAST, NULL, FAULT_REFUSED},
    {"join a folder", "recon ../in/tifs.json -o ../in/tifs/x.tif" FAST, NULL, FAULT_REFUSED},
    {"join a folder as a stack", "recon ../in/pngs.json -o ../in/pngs/%02d.png --size 6" FAST, NULL,
     FAULT_REFUSED},
    {"replace a geometry", "geometry convert ../in/cone.json -o ../in/cone.json -q", NULL,
     FAULT_REFUSED},
    {"replace samples of a header", "recon ../in/mhd.json -o ../in/v.raw" FAST, NULL,
     FAULT_REFUSED},
    {NULL, NULL, NULL, 0},
};

static void put_scan(const char *name, const char *projections)
{
    char path[100];

    snprintf(path, sizeof path, "%s.json", name);
    FILE *f = fopen(path, "w");
    if (!f ||
        fprintf(f,
                "{\"fbp_scan\": 1, \"kind\": \"parallel\", \"projections\": \"%s\",\n"
                " \"detector\": {\"pitch_mm\": 1, \"row_order\": \"bottom-up\"},\n"
                " \"angles_deg\": {\"start\": 0, \"step\": 11.25},\n"
                " \"volume\": {\"size\": [12, 12, 4], \"voxel_mm\": 1}}\n",
                projections) < 0 ||
        fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* What fbp init takes for projections: samples that no volume of this program has. */
static void put_views(const char *path)
{
    static const float samples[6 * 4 * 5] = {1, 2, 3};
    FILE *f = fopen(path, "w");

    if (!f ||
        fputs("NDims = 3\nDimSize = 6 4 5\nElementType = MET_FLOAT\nElementDataFile = LOCAL\n", f) <
            0 ||
        fwrite(samples, sizeof samples, 1, f) != 1 || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void put_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static void put_bytes(const char *path, const char *head, size_t n, const float *v, size_t bytes)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(head, 1, n, f) != n || fwrite(v, 1, bytes, f) != bytes || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* Six rows of 16 numbers, which may be complex. */
static void put_npy(const char *path, bool complex)
{
    static const float samples[2 * 6 * 16] = {0, 1, 2, 3, 9, 4};
    char head[129] = "\x93NUMPY\x01";

    memset(head + 8, ' ', 120);
    head[8] = 118;
    head[9] = 0;
    memcpy(head + 10, "{'descr': '<f4', 'fortran_order': False, 'shape': (6, 1, 16), }", 63);
    if (complex)
        memcpy(head + 10 + 12, "c8", 2);
    head[127] = '\n';
    put_bytes(path, head, 128, samples, sizeof samples / (complex ? 1 : 2));
}

static const char six[] = "1,0,0\n0,1,0\n0,0,1\n0.6,0.8,0\n0,0.6,0.8\n0.8,0,0.6\n";

/* 12 spectra of 10 samples, as Bruker's spectrometers write them. */
static void put_bruker(const char *folder)
{
    static const float samples[120] = {1, 2, 3};
    char path[100];

    snprintf(path, sizeof path, "%s/image.DSC", folder);
    put_text(path, "#DESC\t1.2\nBSEQ\tLIT\nIKKF\tREAL\nXTYP\tIDX\nIRFMT\tF\nXPTS\t10\nYPTS\t12\n"
                   "XMIN\t330\nXWID\t90\nXUNI\t'G'\n#SPL\t1.2\nGRAD\t14.0\nIMTY\t3D\n#DSL\t1.0\n"
                   ".DVC grdUnit, 1.0\nFirstAlpha 22.5 deg\nNrOfAlpha 4\nNrOfBeta 3\n"
                   "FieldOfView 20 mm\nNPixel 4\nImageType 3D\n");
    snprintf(path, sizeof path, "%s/image.DTA", folder);
    put_bytes(path, "", 0, samples, sizeof samples);
}

/* Six traces of 16 complex samples, and what is done with them. */
static void put_traces(const char *folder)
{
    char path[100];

    snprintf(path, sizeof path, "%s/traces.npy", folder);
    put_npy(path, true);
    snprintf(path, sizeof path, "%s/traces.json", folder);
    put_text(path,
             "{\"fbp_scan\": 1, \"kind\": \"planes\", \"projections\": \"traces.npy\",\n"
             "\"gradients\": \"gradients.csv\", \"volume\": {\"size\": 4, \"voxel_mm\": 1},\n"
             "\"prepare\": {\"baseline\": 0, \"fft\": 16, \"zero_sample\": 2, \"dwell_us\": 0.1,"
             " \"phase\": \"view\", \"profile\": \"../profile.txt\"}}\n");
    snprintf(path, sizeof path, "%s/gradients.csv", folder);
    put_text(path, six);
}

static void seed(const char *target)
{
    const struct fuzz_target t = fuzz_target_of(target);

    if (mkdir(target, 0777) != 0)
        return; /* several cases read one folder of seeds */
    fuzz_seeds(&t, target);
    fault_copy("companions", target);
}

void fault_make_inputs(void)
{
    put_text("ball.txt", "0 0 0 80 80 80 0 0.02\n");
    put_scan("mhd", "v.mhd");
    put_scan("npy", "v.npy");
    put_scan("nii.gz", "v.nii.gz");
    put_scan("nrrd", "v.nrrd");
    put_scan("h5", "v.h5");
    put_scan("tif", "v.tif");
    put_scan("tifs", "tifs");
    put_scan("pngs", "pngs");
    mkdir("tifs", 0777);
    mkdir("pngs", 0777);
    mkdir("views", 0777);
    mkdir("both", 0777);
    mkdir("bruker", 0777);
    mkdir("epr", 0777);
    mkdir("listed", 0777);
    put_bruker("bruker");
    put_traces("epr");
    put_npy("listed/planes.npy", false);
    put_text("profile.txt", "1 1 1 1 2 2 2 2 2 2 2 2 1 1 1 1\n");
    put_text("listed/directions.csv", six);
    put_views("views/projections.mha");
    put_views("views/flat.mha");
    put_views("views/dark.mha");
    put_text("views/angles.txt", "0 72 144 216 288\n");
    mkdir("companions", 0777);
    fuzz_companions("companions");
    for (size_t i = 0; fault_seeds[i].folder; i++)
        seed(fault_seeds[i].folder);
    fault_copy_file("geometry.helsinki/scan.0.mat", "both/scan.0.mat"); /* another whole scan */
}
