/** @file files.h  Check that the outputs of a command do not replace its inputs; recon,
 * simulate, view, geometry and rabbitct call cli_check_files() before they write.  See files.c. */
#ifndef FBP_CLI_FILES_H
#define FBP_CLI_FILES_H

#include "cli.h"

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

#endif /* FBP_CLI_FILES_H */
