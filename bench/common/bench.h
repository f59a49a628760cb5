/** @file bench.h  What the commands of fbp-bench share: rows of option tables, JSON, cells of
 * tables, a temporary folder. Included by every command.c in bench/. */
#ifndef FBP_BENCH_COMMON_BENCH_H
#define FBP_BENCH_COMMON_BENCH_H

#include "choices.h"
#include "cli.h"
#include "simulate.h"

#include "backend/backend.h"
#include "bench/common/measure.h"

// clang-format off
/** Rows of the option tables; S: the struct of the parameters. */
#define BENCH_DEVICE(S)                                                                           \
    OPT(S, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "auto",  \
        .help = "where to compute; fbp devices lists them")
#define BENCH_THREADS(S)                                                                          \
    OPT(S, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,              \
        .fallback = "all cores", .help = "number of threads")
#define BENCH_MEMORY(S)                                                                           \
    OPT_BYTE_COUNT(S, memory, .name = "memory", .arg = "BYTES", .fallback = "80% of what is free", \
        .help = "hard limit of the memory of this process, such as 8G or 600M")
/** What a plan chooses where it is left to. */
#define BENCH_KERNEL(S)                                                                           \
    OPT(S, kernel, .name = "kernel", .arg = "NAME", .list = fbp_kernel_name, .fallback = "the plan's", \
        .help = "backprojection kernel, as for fbp recon"),                                       \
    OPT(S, precision, .name = "precision", .arg = "NAME", .list = choices_precision,              \
        .fallback = "the device's", .help = "precision, if the device has it")
// clang-format on

/** A measurement begun: bench, case, device, kernel and isa; the last two, where NULL, left out.
 */
cJSON *bench_json_begin(const char *bench, const char *name, const char *backend,
                        const char *kernel, const char *isa);

/** One measurement more of the object of --json, which is printed when the command ends; 0. */
int bench_json_add(cJSON *measurement);

struct bench_number {
    const char *name;
    double value; /**< not finite: not known, and left out */
};

void bench_json_numbers(cJSON *root, const struct bench_number *numbers, size_t n);

/** What a measured whole call took, and its parts. */
void bench_json_host_seconds(cJSON *root, const struct fbp_host_time *t);

/** Files of a run, in a directory of their own. */
struct workplace {
    char dir[400], scan[440], matrices[440], volume[440];
};

/** The folder of temporary files: as given, or $TMPDIR or /tmp. */
const char *bench_folder(const char *given);

/** Can --pictures go there (NULL: none are asked for)?  OPT_GO_ON, or an exit status, reported. */
int bench_check_pictures(const char *folder);

/** The file `name` in the folder of --pictures; an exit status, failures reported. */
enum { BENCH_PATH = 600 };
int bench_picture(char path[BENCH_PATH], const char *folder, const char *name);

/** Print a number with so many decimals, right-aligned after a blank; "-" if it is not finite. */
void bench_cell(int width, int decimals, double v);

/** Make a new directory in `base` (NULL: $TMPDIR or /tmp); an exit status, failures reported. */
int workplace_make(struct workplace *w, const char *base);
/** Remove the directory and all that is in it, half-written files included. */
void workplace_remove(const struct workplace *w);

/** Simulate a scan, and say so first unless s->quiet; an exit status, failures reported. */
int bench_simulate(struct simulate_args *s);

/** The part of a stage's busy seconds during which computing did not stand still for it. */
double bench_overlap(double busy, double waiting);

#endif /* FBP_BENCH_COMMON_BENCH_H */
