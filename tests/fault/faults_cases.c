/* The commands that faults are tried in, and their inputs: all tiny. */
#include "faults.h"
#include "fuzz/harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FAST " --threads 2 -q"

const char *const fault_inputs[] = {
    "simulate --size 16 --views 12 --scale 0.02 -o cone.json -q",
    "simulate --size 16 --views 12 --detector 24x1 --scale 0.02 -o fan.json -q",
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
    NULL,
};

const struct fault_seeds fault_seeds[] = {
    {"array.mha", "info ../in/%s", false},
    {"array.mhd", "info ../in/%s", false},
    {"array.nrrd", "info ../in/%s", false},
    {"array.nhdr", "info ../in/%s", false},
    {"array.nii", "info ../in/%s", true},
    {"array.nii.gz", "info ../in/%s", false},
    {"array.npy", "info ../in/%s", false},
    {"array.h5", "info ../in/%s", true},
    {"array.mat", "info ../in/%s", true},
    {"array.tif", "info ../in/%s", true},
    {"array.png", "info ../in/%s", true},
    {"scan", "recon ../in/%s -o v.mha --size 4" FAST, false},
    {"geometry.hdf5", "recon ../in/%s -o v.mha --size 4" FAST, false},
    {"geometry.helsinki", "recon ../in/%s -o v.mha --size 4" FAST, true},
    {"geometry.tigre", "geometry check ../in/%s", false},
    {"geometry.tigre-json", "geometry check ../in/%s", false},
    {"geometry.astra", "geometry check ../in/%s", false},
    {"geometry.astra-cone-vec", "geometry check ../in/%s --detector 6x4", false},
    {"geometry.bruker", "geometry check ../in/%s", false},
    {"geometry.ctsimu", "geometry check ../in/%s", false},
    {"geometry.leap", "geometry check ../in/%s", false},
    {"geometry.nikon", "geometry check ../in/%s", false},
    {"geometry.plastimatch", "geometry check ../in/%s", false},
    {"geometry.rtk", "geometry check ../in/%s --detector 6x4 --pitch 0.8,0.8", true},
    {"geometry.matrices", "geometry check ../in/%s --detector 6x4 --pitch 0.8,0.8", false},
    {NULL, NULL, false},
};

const struct fault_case fault_cases[] = {
    {"recon mha", "recon ../in/cone.json -o v.mha" FAST, NULL, true},
    {"recon mha over an old one", "recon ../in/cone.json -o v.mha" FAST, "old", false},
    {"recon mhd", "recon ../in/cone.json -o v.mhd" FAST, NULL, false},
    {"recon mha compressed", "recon ../in/cone.json -o v.mha --compress" FAST, NULL, false},
    {"recon nhdr compressed", "recon ../in/cone.json -o v.nhdr --compress" FAST, NULL, false},
    {"recon nrrd", "recon ../in/cone.json -o v.nrrd" FAST, NULL, false},
    {"recon npy", "recon ../in/cone.json -o v.npy" FAST, NULL, false},
    {"recon raw", "recon ../in/cone.json -o v.raw" FAST, NULL, false},
    {"recon nii.gz", "recon ../in/cone.json -o v.nii.gz" FAST, NULL, false},
    {"recon h5", "recon ../in/cone.json -o v.h5" FAST, NULL, false},
    {"recon tif", "recon ../in/cone.json -o v.tif" FAST, NULL, false},
    {"recon tif stack", "recon ../in/cone.json -o s/%02d.tif --size 6" FAST, NULL, false},
    {"recon png stack",
     "recon ../in/cone.json -o s/%02d.png --size 6 --output-type uint16 --output-range=-1,1" FAST,
     NULL, true},
    {"recon png stack over an old one",
     "recon ../in/cone.json -o s/%02d.png --size 6 --output-type uint16 --output-range=-1,1" FAST,
     "old-stack", false},
    {"recon hash", "recon ../in/cone.json -o hash:" FAST, NULL, false},
    {"recon ref", "recon ../in/cone.json -o v.mha --size 4 --device ref" FAST, NULL, true},
    {"recon fan", "recon ../in/fan.json -o v.mha --json" FAST, NULL, false},
    {"recon slabs", "recon ../in/cone.json -o v.mha --slab 4 --batch 4" FAST, NULL, false},
    {"recon cutoff-v", "recon ../in/cone.json -o v.mha --cutoff-v 0.5" FAST, NULL, false},
    {"recon spatial", "recon ../in/cone.json -o v.mha --spatial" FAST, NULL, false},
    {"recon slice", "recon ../in/cone.json -o slice.png --slice 8" FAST, NULL, false},
    {"recon preview", "recon ../in/cone.json -o v.mha --preview p.png --timeline t.svg" FAST, NULL,
     false},
    {"recon sweep",
     "recon ../in/cone.json -o sheet.png --sweep centre=11:12:0.5 --curve c.svg" FAST, NULL, true},
    {"recon hu", "recon ../in/cone.json -o v.mha --hu-from-roi 0,0,0,30" FAST, NULL, false},
    {"recon plan", "recon ../in/cone.json -o v.mha --plan --json" FAST, NULL, false},
    {"recon rctd", "recon ../in/set.rctd -o v.mha --size 4" FAST, NULL, false},
    {"recon from nii.gz", "recon ../in/nii.gz.json -o v.mha" FAST, NULL, false},
    {"recon from nrrd", "recon ../in/nrrd.json -o v.mha" FAST, NULL, false},
    {"recon from h5", "recon ../in/h5.json -o v.mha" FAST, NULL, true},
    {"recon from tif", "recon ../in/tif.json -o v.mha" FAST, NULL, true},
    {"recon from tifs", "recon ../in/tifs.json -o v.mha" FAST, NULL, true},
    {"recon from pngs", "recon ../in/pngs.json -o v.mha" FAST, NULL, true},
    {"recon resume", "recon ../in/cone.json -o v.mha --slab 4 --resume" FAST, "begun", false},
    {"simulate", "simulate --size 8 --views 6 -o s.json --truth t.mha" FAST, NULL, true},
    {"simulate noise", "simulate --size 8 --views 6 --noise 1e4 -o s.json" FAST, NULL, false},
    {"simulate c-arm", "simulate --size 8 --views 6 --trajectory c-arm -o s.json" FAST, NULL,
     false},
    {"simulate phantom", "simulate --size 8 --views 6 --phantom ../in/ball.txt -o s.json" FAST,
     NULL, false},
    {"view", "view ../in/v.mha -o p.png -q", NULL, true},
    {"view mip", "view ../in/v.nii.gz -o p.png --mip -q", NULL, false},
    {"compare", "compare ../in/v.mha ../in/w.mha", NULL, true},
    {"compare json", "compare ../in/v.h5 ../in/v.tif --json", NULL, false},
    {"info scan", "info ../in/cone.json --json", NULL, true},
    {"info rctd", "info ../in/set.rctd --json", NULL, false},
    {"info stack", "info ../in/pngs --json", NULL, false},
    {"init", "init ../in/pngs --pitch 1 --sod 100 --sdd 200 -o s.json", NULL, true},
    {"init stdout", "init ../in/pngs --pitch 1 --sod 100 --sdd 200", NULL, false},
    {"plan", "plan ../in/cone.json --json", NULL, true},
    {"geometry show", "geometry show ../in/cone.json -o g.svg -q", NULL, false},
    {"geometry check", "geometry check ../in/cone.json --json", NULL, true},
    {"convert fbp", "geometry convert ../in/cone.json -o g.json -q", NULL, true},
    {"convert rtk", "geometry convert ../in/cone.json -o g.xml -q", NULL, false},
    {"convert astra", "geometry convert ../in/cone.json -o g.npy --to-format astra-cone-vec -q",
     NULL, false},
    {"convert tigre", "geometry convert ../in/cone.json -o g.mat --to-format tigre -q", NULL,
     false},
    {"convert leap", "geometry convert ../in/cone.json -o g.txt --to-format leap -q", NULL, false},
    {"convert matrices", "geometry convert ../in/cone.json -o g.txt --to-format matrices -q", NULL,
     false},
    {"convert plastimatch", "geometry convert ../in/cone.json -o g_%02d.txt -q", NULL, false},
    {"rabbitct make", "rabbitct make ../in/cone.json -o set.rctd --references 1 --device cpu -q",
     NULL, false},
    {"rabbitct run", "rabbitct run ../in/set.rctd --size 128 --device cpu -o r.rctd --volume g.vol",
     NULL, false},
    {"rabbitct compare", "rabbitct compare ../in/reference.vol ../in/set.rctd", NULL, false},
    {"rabbitct convert", "rabbitct convert ../in/set.rctd -o set.rct", NULL, false},
    {"devices", "devices --json", NULL, true},
    {"bench kernel",
     "bench kernel --job J1 --divide 64 --kernel matrix --device cpu --precision exact --threads 2",
     NULL, false},
    {"bench pipeline", "bench pipeline --size 8 --views 6 --dir . --threads 2 -q", NULL, false},
    {"bench host", "bench host --job J1 --divide 64 --runs 1 --device cpu --threads 2", NULL,
     false},
    {"help", "recon --help", NULL, false},
    {NULL, NULL, NULL, false},
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

static void seed(const char *target)
{
    const struct fuzz_target t = fuzz_target_of(target);

    mkdir(target, 0777);
    fuzz_seeds(&t, target);
    fault_copy("companions", target);
}

void fault_make_inputs(void)
{
    FILE *ball = fopen("ball.txt", "w");

    if (!ball || fputs("0 0 0 80 80 80 0 0.02\n", ball) < 0 || fclose(ball) != 0) {
        perror("ball.txt");
        exit(1);
    }
    put_scan("nii.gz", "v.nii.gz");
    put_scan("nrrd", "v.nrrd");
    put_scan("h5", "v.h5");
    put_scan("tif", "v.tif");
    put_scan("tifs", "tifs");
    put_scan("pngs", "pngs");
    mkdir("tifs", 0777);
    mkdir("pngs", 0777);
    mkdir("companions", 0777);
    fuzz_companions("companions");
    for (size_t i = 0; fault_seeds[i].folder; i++)
        seed(fault_seeds[i].folder);
}
