/** @file cli.h  Functions that all commands of fbp and fbp-bench share: error messages, JSON
 * output, checks of file names and of outputs, short texts.  Implemented in cli.c. */
#ifndef FBP_CLI_CLI_H
#define FBP_CLI_CLI_H

#include "opt.h"

#include "fbp/fbp.h"

#include <cjson/cJSON.h>

/** commands[n_commands] of this program, in the order of the help; set by program_main(). */
extern const struct command *const *commands;
extern size_t n_commands;

/** Print "fbp: …" to standard error; returns 1, the exit status of a failure. */
int cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Print the library's last message as cli_error() does; returns 1. */
int cli_fail(void);

/** Print a command's result, or with --json keep the result for the output object (say.h).  Frees
 *  `root`; returns the exit status.  `compact`: on one line. */
int cli_json(cJSON *root, bool compact);
/** Save `root` as a file and free it; returns the exit status.  `replace`: an existing file is
 *  replaced. */
int cli_json_save(cJSON *root, const char *path, bool replace);
/** Add the member `key`: [v[0], …, v[n - 1]] to an object.  Returns the list, or NULL
 *  if out of memory. */
cJSON *cli_json_numbers(cJSON *object, const char *key, const double *v, size_t n);
cJSON *cli_json_sizes(cJSON *object, const char *key, const size_t *v, size_t n);
/** A member of a JSON object; key NULL: end of a list. */
struct cli_number {
    const char *key;
    double value;
};
/** Add numbers to an object: cli_json_add(object, {"rmse", 0.1}, {"max", 2}). */
#define cli_json_add(object, ...) \
    cli_json_add_all(object, (const struct cli_number[]){__VA_ARGS__, {NULL, 0}})
void cli_json_add_all(cJSON *object, const struct cli_number *numbers);

bool cli_ends_with(const char *text, const char *end);
/** True if the output is a pattern with one file per slice, such as "out/%04d.png". */
bool cli_is_stack(const char *output);
/** Write to buf[n] the name under which an output can be read: a stack of slices becomes
 *  "PATTERN 0 LAST".  Returns buf. */
char *cli_written(char *buf, size_t n, const char *output, size_t n_slices);
/** True if the folder of the file `path` exists and is writable. */
bool cli_has_folder(const char *path);
/** Print warnings: the scan's guessed facts and its note, as in the log of a plan. */
void cli_say_uncertain(const struct fbp_scan *scan, bool quiet);
/** Print a warning if samples of the array are missing; nothing if the file is not an array. */
void cli_warn_missing(const char *path, bool quiet);
/** Find the only scan file in the folder `path`, and print its name.  *out: path of the scan file,
 *  free with free(); NULL: `path` is not a folder.  @return 0, or 1 after an error message: no scan
 *  file (the message lists the contents), or several. */
int cli_scan_in_folder(const char *path, bool quiet, char **out);
/** True, after an error message, if `path` is a scan file (.json), although an array is needed. */
bool cli_is_scan(const char *path);
/** Format a duration: "45 ms", "12.3 s", "2:05 min", "1:05 h", "?" if unknown; returns buf. */
char *cli_seconds(char *buf, size_t n, double seconds);
/** Format a grid: "256 x 256 x 256 voxels of 1 mm"; returns buf. */
char *cli_grid(char *buf, size_t n, const struct fbp_grid *grid);
double cli_degrees(double rad);
/** Combine three options to flags of enum fbp_flip. */
unsigned cli_flips(bool u, bool v, bool direction);
/** Peak resident set of this process so far [bytes]. */
uint64_t cli_peak_bytes(void);

/** Inputs and outputs of one command; paths and `scan` may be NULL. */
struct cli_files {
    bool force;                  /**< outputs may replace inputs */
    const struct fbp_scan *scan; /**< input, with all files of the scan */
    const char *inputs[4];       /**< inputs: arrays, or any other files */
    const char *outputs[8];      /**< files, or patterns such as "out/%04d.png" */
    const char *volume;          /**< output; the library itself protects its inputs */
};

/** Option table row of --force, for the member f of struct S. */
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
