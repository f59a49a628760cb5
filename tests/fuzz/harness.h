/** @file harness.h  Readers under any bytes: what a target is, and how one input is run.
 *
 * An input is written to a file in memory and read through the public functions.  Whatever it is,
 * a reader says yes with facts that hold, or no with one line that names the file; descriptors do
 * not leak, and nothing is left beside the file.  Broken promises abort, so that a fuzzer keeps the
 * input.  Kinds of targets are functions (targets.c); formats come out of the library's own tables,
 * so that a new format is a target as soon as it is in its table.
 */
#ifndef FBP_TESTS_FUZZ_HARNESS_H
#define FBP_TESTS_FUZZ_HARNESS_H

#include "fbp/types.h"

/** One target: "array.mha" is the kind `array` with the key "mha". */
struct fuzz_target {
    char name[40];
    const char *key;
    char file[48];                                  /**< name of the input, such as "input.mha" */
    bool (*run)(const char *path, const char *key); /**< was it accepted? */
};

enum { FUZZ_TARGETS = 96 };

/** All targets into out[FUZZ_TARGETS]; returns how many there are. */
size_t fuzz_targets(struct fuzz_target *out);

/** The target of a name; exits with a list of names if there is none. */
struct fuzz_target fuzz_target_of(const char *name);

/** The .zarray of an array of 6 x 4 x 5 floats. */
#define ZARR_ARRAY(COMPRESSOR)                                                               \
    "{\"zarr_format\": 2, \"shape\": [5, 4, 6], \"chunks\": [5, 4, 6], \"dtype\": \"<f4\", " \
    "\"compressor\": " COMPRESSOR ", \"fill_value\": 0, \"order\": \"C\", \"filters\": null}"

/**
 * Make the folder of inputs, and beside them what inputs may name (scans: "p.mha", …).
 *
 * inside  libhdf5 runs in this process (fbp_isolate_readers())
 */
void fuzz_begin(bool inside);

/** Only those files that inputs may name, in a folder that is there. */
void fuzz_companions(const char *folder);

/** Run one input; was it accepted? */
bool fuzz_one(const struct fuzz_target *target, const uint8_t *data, size_t n);

/** Remove the folder of fuzz_begin(). */
void fuzz_end(void);

/** A promise; `what` is printed with fbp_message() when it is broken. */
void fuzz_check(bool holds, const char *what);

/** Failed: there is a message of one line, and it names the file. */
void fuzz_refused(fbp_status st, const char *path);

/** Write seeds of a target into a folder: by the library's writers, and by what the unit tests make
 *  other programs' files with. */
void fuzz_seeds(const struct fuzz_target *target, const char *folder);

#endif /* FBP_TESTS_FUZZ_HARNESS_H */
