/** @file cli.h  Functions that the commands of fbp and fbp-bench share: error messages, the log
 * callback of the library, warnings about scans and arrays, JSON output, checks of file names, the
 * scan file of a folder, the check that outputs replace no inputs, texts for durations and voxel
 * grids. Implemented in cli.c.
 * Used by: bench/, cli/. */
#ifndef FBP_CLI_CLI_H
#define FBP_CLI_CLI_H

#include "opt.h"

#include "fbp/fbp.h"

#include <cjson/cJSON.h>

/** commands[n_commands] of this program, in the order of the help; set by program_main(). */
extern const struct command *const *commands;
extern size_t n_commands;

/** Print an error message, "fbp: …", to standard error; returns 1, the exit status of a failure. */
int cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Set *name, a file name in a scan, to a copy of `path`; returns 0, or 1 after an error. */
int cli_replace_name(char **name, const char *path);
/** Print the library's last error message to standard error; returns 1, the exit status. */
int cli_fail(void);

/** Print the JSON result `root` of a command or, with --json, store it for the object that
 * say_close() prints. Takes ownership of `root`; returns the exit status. compact: on one line. */
int cli_json(cJSON *root, bool compact);
/** Save the JSON value `root` in a file, and free it; returns the exit status. replace: an existing
 * file is replaced, otherwise an existing file is an error. */
int cli_json_save(cJSON *root, const char *path, bool replace);
/** Add the member key: [v[0], …, v[n - 1]] to a JSON object. Returns the list; NULL: no memory. */
cJSON *cli_json_numbers(cJSON *object, const char *key, const double *v, size_t n);
cJSON *cli_json_sizes(cJSON *object, const char *key, const size_t *v, size_t n);
/** A number with its key in a JSON object; key NULL: end of a list of numbers. */
struct cli_number {
    const char *key;
    double value;
};
/** Add numbers to a JSON object, as in cli_json_add(object, {"rmse", 0.1}, {"max", 2}). */
#define cli_json_add(object, ...) \
    cli_json_add_all(object, (const struct cli_number[]){__VA_ARGS__, {NULL, 0}})
/** Add the members "size", "voxel_mm" and "centre_mm" of a voxel grid to a JSON object. */
void cli_json_grid(cJSON *object, const struct fbp_grid *grid);
/** Add the members "views", "columns" and "rows" of a scan to a JSON object. */
void cli_json_views(cJSON *object, const struct fbp_scan *scan);
void cli_json_add_all(cJSON *object, const struct cli_number *numbers);

bool cli_ends_with(const char *text, const char *end);
/** True if the output is a pattern with one file per slice, such as "out/%04d.png". */
bool cli_is_stack(const char *output);
/** Write to buf[n] the name by which fbp_source_open() opens a written volume: `output` or, if it
 * is a pattern with one file per slice, "PATTERN 0 LAST" with LAST = n_slices - 1. Returns buf. */
char *cli_written(char *buf, size_t n, const char *output, size_t n_slices);
/** True if the folder of the file `path` exists and is writable. */
bool cli_has_folder(const char *path);
/** Print warnings about a scan: guessed facts, and its member `note`. */
void cli_say_uncertain(const struct fbp_scan *scan, bool quiet);
/** Print a warning if `path` is an array file in which samples are missing. */
void cli_warn_missing(const char *path, bool quiet);
/** Log function for the library (type fbp_log_fn): print a warning or note; notes are not printed
 * if the bool to which `quiet` points is true. */
void cli_log(void *quiet, enum fbp_log_level level, const char *line);
/** Find the only scan file in the folder `path`, and print its name. *out: receives the path of the
 * scan file, to be freed by the caller; NULL: `path` is no folder. @return 0, or 1 after an error
 * message: the folder contains no scan file, or several. */
int cli_scan_in_folder(const char *path, bool quiet, char **out);
/** If `path` ends in .json, print the error that an array is needed; return true. */
bool cli_is_scan(const char *path);
/** Format a duration: "45 ms", "12.3 s", "2:05 min", "1:05 h", "?" if unknown; returns buf. */
char *cli_seconds(char *buf, size_t n, double seconds);
/** Format a grid: "256 x 256 x 256 voxels of 1 mm"; returns buf. */
char *cli_grid(char *buf, size_t n, const struct fbp_grid *grid);
double cli_degrees(double rad);
/** Greatest resident memory of this process until now [bytes]; 0: not known. */
uint64_t cli_peak_bytes(void);

/** Inputs and outputs of one command, for cli_check_files(); paths and `scan` may be NULL. */
struct cli_files {
    bool force;                  /**< true: outputs may replace inputs (option --force) */
    const struct fbp_scan *scan; /**< scan that the command reads, with all files that it names */
    const char *inputs[4];  /**< further files that the command reads: arrays, or any other files */
    const char *outputs[8]; /**< files that the command writes, or patterns ("out/%04d.png") */
    /** volume that the command writes; NULL: none. It is compared with `outputs` only, because the
     * library itself refuses to write a volume over an input */
    const char *volume;
};

/** Row of an option table: --force, stored in the member f of struct S. */
// clang-format off
#define FORCE_OPTION(S, f)                                                                        \
    OPT(S, f, .name = "force",                                                                    \
        .help = "also write over an input file, or into a folder or series of input files")
// clang-format on

/**
 * Check that no output replaces an input file or becomes part of an input folder or input pattern
 * (unless `force`), and that no two outputs are the same file (always).
 * @return 0, or 1 after an error message.
 */
int cli_check_files(const struct cli_files *files);

#endif /* FBP_CLI_CLI_H */
