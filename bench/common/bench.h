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
/** Rows for option tables; S: struct of the command's arguments. */
#define BENCH_DEVICE(S)                                                                           \
    OPT(S, device, .name = "device", .arg = "NAME", .list = fbp_device_name, .fallback = "auto",  \
        .help = "where to compute; fbp devices lists them")
#define BENCH_THREADS(S)                                                                          \
    OPT(S, threads, .name = "threads", .arg = "N", .min = 0, .max = FBP_THREADS_MAX,              \
        .fallback = "all cores", .help = "number of threads")
#define BENCH_MEMORY(S)                                                                           \
    OPT_BYTE_COUNT(S, memory, .name = "memory", .arg = "BYTES", .fallback = "80% of what is free", \
        .help = "hard limit of the memory of this process, such as 8G or 600M")
/** Options for kernel and precision, which a plan chooses by default. */
#define BENCH_KERNEL(S)                                                                           \
    OPT(S, kernel, .name = "kernel", .arg = "NAME", .list = fbp_kernel_name, .fallback = "the plan's", \
        .help = "backprojection kernel, as for fbp recon"),                                       \
    OPT(S, precision, .name = "precision", .arg = "NAME", .list = choices_precision,              \
        .fallback = "the device's", .help = "precision, if the device has it")
// clang-format on

/** A JSON object with bench, case, device, kernel and isa; kernel and isa are omitted if NULL. */
cJSON *bench_json_begin(const char *bench, const char *name, const char *backend,
                        const char *kernel, const char *isa);

/** Append a measurement to the list "measurements" of the object of --json, which is printed on one
 * line when the command ends. Takes ownership of the measurement; returns 0. */
int bench_json_add(cJSON *measurement);

/** Add n numbers to a JSON object; a value that is not finite is unknown, and is omitted. */
void bench_json_numbers(cJSON *root, const struct cli_number *numbers, size_t n);

/** Add the seconds of a whole reconstruction and of its stages to a JSON object. */
void bench_json_host_seconds(cJSON *root, const struct fbp_host_time *t);

/** A temporary folder, and the paths of scan and volume in it. */
struct workplace {
    char dir[400], scan[440], matrices[440], volume[440];
};

/** Folder for temporary files: `given`, or if that is NULL, $TMPDIR or /tmp. */
const char *bench_folder(const char *given);

/** Check that the folder of --pictures exists and can be written to; NULL passes. Returns
 * OPT_GO_ON, or an exit status after a message. */
int bench_check_pictures(const char *folder);

/** Join the folder of --pictures and a file name; an exit status after a message if the path is too
 * long. */
enum { BENCH_PATH = 600 };
int bench_picture(char path[BENCH_PATH], const char *folder, const char *name);

/** Print a blank and a number with `decimals` decimals, right-aligned in `width` characters; "-" if
 * the number is not finite. */
void bench_cell(int width, int decimals, double v);

/** Create a temporary folder in `base` (NULL: $TMPDIR or /tmp); an exit status, failures reported.
 */
int workplace_make(struct workplace *w, const char *base);
/** Delete the temporary folder with all files, also incomplete ones. */
void workplace_remove(const struct workplace *w);

/** Simulate a scan, after a note unless s->quiet; an exit status, failures reported. */
int bench_simulate(struct simulate_args *s);

/** Share of a stage's busy seconds in which the computing stage did not wait for the stage; 0 to 1.
 */
double bench_overlap(double busy, double waiting);

#endif /* FBP_BENCH_COMMON_BENCH_H */
