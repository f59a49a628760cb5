/** @file files.h  What a command reads and writes, compared before anything is written. */
#ifndef FBP_CLI_FILES_H
#define FBP_CLI_FILES_H

#include "cli.h"

/** Entries may be NULL. */
struct cli_files {
    bool force;                  /**< inputs may be replaced */
    const struct fbp_scan *scan; /**< with all that it is read from */
    const char *inputs[4];       /**< arrays, or any other files */
    const char *outputs[8];      /**< files, or patterns such as "out/%04d.png" */
    const char *volume;          /**< an output whose inputs the library spares itself */
};

/** The row of an option table for a member `force` of S. */
// clang-format off
#define FORCE_OPTION(S, f)                                                                        \
    OPT(S, f, .name = "force",                                                                    \
        .help = "also write over an input file, or into a folder or series of input files")
// clang-format on

/**
 * No output may replace a file that is read, or become one of a folder's or pattern's files, unless
 * that is forced; two outputs may not have one name in any case.
 * @return 0, or an exit status: a sentence has been said.
 */
int cli_check_files(const struct cli_files *files);

#endif /* FBP_CLI_FILES_H */
