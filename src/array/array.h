/** @file array.h  Arrays: the interface for the other folders of the library (internal).
 *
 * Adds to the public header fbp/array.h: the table of formats, sources that wrap another source,
 * outputs that several processes write, and memory that an output needs. Included by src/pipeline,
 * src/scan, src/prep and bench. A source delivers views or slices, a sink stores slices.
 * array/file/ defines the interface of formats and reads opened files; array/format/ contains the
 * formats.
 */
#ifndef FBP_SRC_ARRAY_ARRAY_H
#define FBP_SRC_ARRAY_ARRAY_H

#include "array/file/format.h"

/* formats.c: the table of formats, and the choice of a format by name */

/** Entry i of the table of formats; NULL if i is beyond the last entry. */
const struct fbp_format *fbp_format_at(size_t i);

/** Format that reads files with the extension of `path`; NULL: no format does. */
const struct fbp_format *fbp_format_of_name(const char *path);

/** Format that reads the folder `path` as one array (OME-Zarr); NULL: `path` is no folder, or no
 * format reads it. */
const struct fbp_format *fbp_format_of_folder(const char *path);

/** Format that writes an output of this name, which may be "FILE:ARRAY"; NULL: no format does. *n:
 * length of FILE in `path`. */
const struct fbp_sink_format *fbp_format_to_write(const char *path, size_t *n);

/** Format of an output with one file per slice, "out/slice_%04d.tif" or "slice.png"; NULL: the name
 *  describes no such output. */
const struct fbp_format *fbp_format_of_slices(const char *path);

/** Write the extensions of all output formats, ".mha .mhd …", to buf[n]; returns buf. */
char *fbp_formats_written(char *buf, size_t n);

/**
 * Append a format to the table, which keeps the pointer. For tests, and for programs that link the
 * library's objects. Must precede all other calls of the library.
 * @return false: the table is full
 */
bool fbp_formats_add(const struct fbp_format *format);

/** Requested properties of an output. */
struct fbp_write_mode {
    bool parts;    /**< several processes write the output */
    bool compress; /**< true: samples are compressed, if the format supports compression */
};

/**
 * Check, before any file is opened, that an output of this name can be written with these
 * properties. A name without a format gives FBP_OK here: fbp_sink_open() refuses it.
 *
 * format  format of the file; NULL: chosen by the name
 * @return FBP_OK, FBP_ERR_UNSUPPORTED with a message
 */
fbp_status fbp_write_mode_check(const char *path, const struct fbp_sink_format *format,
                                const struct fbp_write_mode *ways);

/* source.c: opening of sources, and sources that wrap another source */

enum fbp_source_use {
    FBP_SOURCE_WHOLE,
    FBP_SOURCE_GROWING,   /**< the file is still being written */
    FBP_SOURCE_LIST,      /**< a list of numbers: one dimension is accepted */
    FBP_SOURCE_IMAGINARY, /**< imaginary parts of complex samples */
};

/** fbp_source_open() with an intended use. */
fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              enum fbp_source_use use);

/** Compute the mean image of all views of a source, mean[row][column]. FBP_ERR_IO: a file could not
 * be read, or has changed since the source was opened. */
fbp_status fbp_source_mean(fbp_source *source, double *mean);

/**
 * Initialize the members that every source on `below` has: name, files, type and size of the stored
 * samples. After a failure the caller closes src like any other source.
 *
 * @return FBP_OK, FBP_ERR_NOMEM
 */
fbp_status fbp_source_wrap_set_up(fbp_source *src, fbp_source *below);

/** Function that fills in `src`, a new source that reads from the source `below`; `what`:
 * parameters of the new source. */
typedef fbp_status fbp_source_set_up(fbp_source *src, const void *what, fbp_source *below);

/**
 * Open a source without a file; set_up() fills it in.
 *
 * what   parameters, passed to set_up()
 * below  must outlive *out
 * owned  `below` is closed together with *out, also if this function fails
 * @return FBP_ERR_NOMEM, or the status of set_up()
 */
fbp_status fbp_source_wrap(fbp_source **out, fbp_source_set_up *set_up, const void *what,
                           fbp_source *below, bool owned);

/** Wrap a source whose views must be read in order (a compressed file). The new source stores the
 * views that were read in memory, and threads can then read them in any order. below, owned: see
 * fbp_source_wrap(). */
fbp_status fbp_source_hold(fbp_source **out, fbp_source *below, bool owned);

/** Memory that fbp_source_hold() needs in addition to the memory of `below` [bytes]. */
uint64_t fbp_hold_bytes(const fbp_source *below);

/**
 * Decompress views [0, n) of a source of fbp_source_hold() now; otherwise reading a view
 * decompresses the missing ones. Does nothing for other sources.
 *
 * idle  called every few hundredths of a second; may be NULL
 * @return FBP_ERR_CANCELLED if `idle` cancels, or the status of reading
 */
fbp_status fbp_hold_fill(fbp_source *src, size_t n, fbp_idle_fn *idle, void *user);

/**
 * Fill in a source with one file per view (source_stack.c). src->path: a folder of files, or a
 * pattern.
 *
 * raw: description of files without headers; raw->n[2]: number of files, 0: not stated. All files
 * are opened once, except in a growing source: of that, only the first file, if it has a header.
 */
fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw);

/* sink.c: outputs */

/** Address of the slices that a sink stores in the caller's memory, as float or double; NULL: the
 * sink stores them elsewhere. After writing there directly, call fbp_sink_mark(). */
void *fbp_sink_samples(const fbp_sink *sink);
/** Record slices [z0, z0 + nz) as written. */
void fbp_sink_mark(fbp_sink *sink, size_t z0, size_t nz);
const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink);

/** The slices that one of several processes writes into a shared output, in any order, at any
 *  time. */
struct fbp_sink_share {
    size_t part, n_parts;      /**< number of this process, from 1; number of processes */
    const unsigned char *mine; /**< [info->n[2]] 1: this process writes the slice */
    /** This process is the first of several that start together. If fbp_sink_params.resume is
     *  set, it resumes files of an earlier run under the name, else it removes them. Other
     *  processes resume an output that several processes began, and refuse one that a single
     *  process began. */
    bool first;
    bool led; /**< the process with `first` alone publishes the output */
};

/**
 * fbp_sink_open() for one of several processes (array/shared_output.h). Slices that other processes
 * have written are not written again (fbp_sink_has()). fbp_sink_finish() requires only the slices
 * of this process; the last process to finish publishes the output. The `first` process calls it
 * after all others; if slices are missing then, the call fails.
 */
fbp_status fbp_sink_open_shared(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                                const struct fbp_sink_params *params,
                                const struct fbp_sink_share *joint);

/** A probe: a file that a process of a shared output has just created, and its first bytes. It
 *  shows whether the processes share a file system. */
struct fbp_sink_probe {
    char path[4096]; /**< "": the sink has no files */
    char text[200];
};
void fbp_sink_probe(const fbp_sink *s, struct fbp_sink_probe *out);
/** Whether this process can read the probe file of another process: both then use the same file
 * system. Waits up to three seconds for slow file systems. */
bool fbp_sink_sees_probe(const struct fbp_sink_probe *probe);

/** Number of slices that other processes still have to write after this sink is finished; 0: the
 *  output is published. */
size_t fbp_sink_missing(const fbp_sink *sink);

/** Message about a failure that does not affect the finished output, such as a temporary file that
 * could not be removed; NULL: none. Owned by the sink. */
const char *fbp_sink_note(const fbp_sink *sink);

/** Memory and slice boundaries that an output needs. A plan asks for them before the output is
 * opened. */
struct fbp_output_needs {
    size_t layer;          /**< slices per layer of chunk files; 0: no layers */
    uint64_t writer_bytes; /**< greatest memory per thread that writes slices [bytes] */
    uint64_t level_bytes;  /**< fbp_sink_params.level_bytes */
};

/** Get the needs of an output of n voxels x, y, z. path: name of the output, NULL: unknown; limit:
 * memory of the machine [bytes]. */
void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out);

/** Declare all written slices invalid: closing the sink then removes its files. */
void fbp_sink_forget(fbp_sink *sink);

/** Number of slices that a later run with --resume would find if this sink were closed now; sink
 * NULL: 0. */
size_t fbp_sink_resumable(fbp_sink *sink);

/*
 * spool.c: float values of an integer output whose range is determined from the values
 *
 * The floats are stored in a file NAME.values.raw.part beside the output NAME, with a journal as
 * for any sink; an interrupted run can therefore be resumed. The output is written when all floats
 * are stored.
 */

/**
 * Open the sink for the floats. Name, folder and disk space of the output are checked first.
 *
 * output, info, params: arguments with which the output's sink will be opened, without
 * params->range. "null:" has no file.
 */
fbp_status fbp_spool_open(fbp_sink **values, const char *output, const struct fbp_array_info *info,
                          const struct fbp_sink_params *params);

/**
 * Find the least and the greatest finite value that was written. If both are equal, the range is
 * extended upwards. For "null:", *range holds the values on entry.
 * @return FBP_ERR_INVALID if no value is finite
 */
fbp_status fbp_spool_range(const fbp_sink *values, double range[2]);

/** Copy all slices to the output's sink, `at_once` slices at a time. stops: called before each
 *  group; nonzero cancels (FBP_ERR_CANCELLED). */
fbp_status fbp_spool_copy(const fbp_sink *values, fbp_sink *to, size_t at_once,
                          int (*stops)(void *user), void *user);

/** Close the sink, remove all its files, and set *values to NULL. */
void fbp_spool_discard(fbp_sink **values);

#endif /* FBP_SRC_ARRAY_ARRAY_H */
