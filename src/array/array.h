/** @file array.h  Arrays of samples on their way in or out: what the library asks of sources and
 * sinks beside the public calls (internal).
 *
 * This folder opens sources and sinks: files, stacks of files, files that grow, memory.  What a
 * format is, and how an opened file is read, lies in array/file; the formats in array/format.
 */
#ifndef FBP_SRC_ARRAY_H
#define FBP_SRC_ARRAY_H

#include "array/file/format.h"

enum fbp_source_use {
    FBP_SOURCE_WHOLE,
    FBP_SOURCE_GROWING,   /**< still being written */
    FBP_SOURCE_LIST,      /**< a list of numbers: one dimension will do */
    FBP_SOURCE_IMAGINARY, /**< of complex samples the imaginary parts; others are refused */
};

/** fbp_source_open() for this use. */
fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              enum fbp_source_use use);

/** The mean of all slices [row][column]; FBP_ERR_IO, too, if the file has changed. */
fbp_status fbp_source_mean(fbp_source *source, double *mean);

/** Where a volume in the caller's memory lies, float or double as its info says; NULL for other
 *  sinks.  Who fills it without
 *  fbp_sink_write() says so by fbp_sink_written(). */
void *fbp_sink_samples(const fbp_sink *sink);
void fbp_sink_written(fbp_sink *sink, size_t z0, size_t nz);
const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink);

/** Of several processes that write one output, in any order, at any time: which this one is. */
struct fbp_sink_joint {
    size_t part, n_parts;      /**< for names and messages: parts count from 1 */
    const unsigned char *mine; /**< 1 a slice of info->n[2] that this process writes */
    bool first; /**< of several that start together: fbp_sink_params.resume says whether what is
                     left under this name is gone on with.  Others go on with what several have
                     begun, and refuse what one alone has left */
    bool led;   /**< another of these is the first, which alone publishes, when all have finished */
};

/**
 * fbp_sink_open() for one of several processes (array/joint.h).  What others have written is not
 * written again: fbp_sink_has().  fbp_sink_finish() wants the slices of this process; the last of
 * all publishes the output.  That of a `first` one comes after those of all others, and fails if
 * slices are not there.
 */
fbp_status fbp_sink_open_joint(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                               const struct fbp_sink_params *params,
                               const struct fbp_sink_joint *joint);

/** A file that a process of such a sink has just made, and how it begins. */
struct fbp_sink_token {
    char path[4096]; /**< "": the sink has no files */
    char text[200];
};
void fbp_sink_token(const fbp_sink *s, struct fbp_sink_token *out);
/** Does this process see it, too?  Waits for a file system that has not heard of it yet. */
bool fbp_sink_sees(const struct fbp_sink_token *token);

/** Slices that other processes still have to write, once the sink is finished; 0: the output has
 * its name. */
size_t fbp_sink_missing(const fbp_sink *sink);

/** What did not work, and does no harm to an output that is finished, as a sentence for its user;
 *  NULL: nothing.  The sink's. */
const char *fbp_sink_note(const fbp_sink *sink);

/** The most that a thread takes which converts slices to this type, and packs them; FBP_F32: 0. */
uint64_t fbp_sink_thread_bytes(enum fbp_type type);

/** What an output takes of those who write it, beside its slices. */
struct fbp_output_needs {
    size_t layer;          /**< so many slices lie in the same files; 0: any cut will do */
    uint64_t writer_bytes; /**< of each thread that writes slices */
    uint64_t level_bytes;  /**< fbp_sink_params.level_bytes */
};

/** Of an output of this name (NULL: none is known), n voxels x, y, z of this type, where memory has
 *  `limit` bytes. */
void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out);

/** What was written so far is wrong: nothing is kept when the sink is closed. */
void fbp_sink_forget(fbp_sink *sink);

/** Slices that stay for a run that resumes this one, if it is closed now; NULL: 0. */
size_t fbp_sink_kept(fbp_sink *sink);

#endif /* FBP_SRC_ARRAY_H */
