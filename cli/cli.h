/** @file cli.h  Functions that commands share: messages, JSON, short texts. */
#ifndef FBP_CLI_CLI_H
#define FBP_CLI_CLI_H

#include "opt.h"

#include "fbp/fbp.h"

#include <cjson/cJSON.h>

/** The commands of this program, in the order of the help; set by program_main(). */
extern const struct command *const *commands;
extern size_t n_commands;

/** Print "fbp: …" to standard error; returns 1, the exit status of a failure. */
int cli_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** The same with the library's last message. */
int cli_fail(void);

/** A command's result as JSON, which is freed: printed, or with --json kept for the one object
 *  (say.h); returns the exit status.  `compact`: on one line. */
int cli_json(cJSON *root, bool compact);
/** Save as a file, free; returns the exit status.  `replace`: also over one that is there. */
int cli_json_save(cJSON *root, const char *path, bool replace);
/** An object's new member [a, b, …]; NULL when out of memory. */
cJSON *cli_json_numbers(cJSON *object, const char *key, const double *v, size_t n);
cJSON *cli_json_sizes(cJSON *object, const char *key, const size_t *v, size_t n);

bool cli_ends_with(const char *text, const char *end);
/** Is this output a file a slice, "out/%04d.png"? */
bool cli_is_stack(const char *output);
/** The name under which an output can be read: a stack of slices gets its numbers; returns buf. */
char *cli_written(char *buf, size_t n, const char *output, size_t n_slices);
/** Is the folder of a file to write there, and writable? */
bool cli_has_folder(const char *path);
/** Say what a scan's file left open, and what it assumes, as the library does in a plan's log. */
void cli_say_uncertain(const struct fbp_scan *scan, bool quiet);
/** Warn of samples that an array lacks; a file that is no array says nothing. */
void cli_warn_missing(const char *path, bool quiet);
/** Where a scan is needed and `path` is a folder: the one scan that lies in it, said, as *out
 *  (free()); NULL if it is none.  0, or 1 with what there is reported. */
int cli_scan_in_folder(const char *path, bool quiet, char **out);
/** Is this a scan file, where an array is needed?  Then that has been said. */
bool cli_is_scan(const char *path);
/** "45 ms", "12.3 s", "2:05 min", "1:05:00 h"; returns buf. */
char *cli_seconds(char *buf, size_t n, double seconds);
/** "256 x 256 x 256 voxels of 1 mm"; returns buf. */
char *cli_grid(char *buf, size_t n, const struct fbp_grid *grid);
double cli_degrees(double rad);
/** enum fbp_flip flags. */
unsigned cli_flips(bool u, bool v, bool direction);
/** Peak resident set of this process so far [bytes]. */
uint64_t cli_peak_bytes(void);
/** Seconds on a clock that never goes back. */
double cli_now(void);

#endif /* FBP_CLI_CLI_H */
