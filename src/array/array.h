/** @file array.h  Arrays in files and memory: what the other folders of the library need beyond the
 * public header fbp/array.h (internal).
 *
 * A source delivers views or slices, a sink stores slices. Declared here: the table of file
 * formats, sources that wrap another source, outputs that several processes write, memory that an
 * output needs, and temporary files for integer outputs. array/file/ defines the interface of
 * formats and reads opened files; array/format/ contains the formats.
 * Used by: bench/, analysis/, array/, pipeline/, prep/, scan/.
 */
#ifndef FBP_SRC_ARRAY_ARRAY_H
#define FBP_SRC_ARRAY_ARRAY_H

#include "array/file/format.h"

/* formats.c: the table of array file formats, and the choice of a format by a file name */

/** Array file format i of the table of formats; NULL if the table has no entry i. */
const struct fbp_format *fbp_format_at(size_t i);

/** Format that reads files with the extension of `path`; NULL: no format does. */
const struct fbp_format *fbp_format_of_name(const char *path);

/** Format that reads the folder `path` as one array (OME-Zarr); NULL: none. */
const struct fbp_format *fbp_format_of_folder(const char *path);

/** Format that writes an output of the name `path`, "FILE" or "FILE:ARRAY"; NULL: no format does.
 * *n: length of FILE in `path`. */
const struct fbp_sink_format *fbp_format_to_write(const char *path, size_t *n);

/** Format of an output with one file per slice, such as "out/slice_%04d.tif" or "slice.png"; NULL:
 * `path` is no name of such an output. */
const struct fbp_format *fbp_format_of_slices(const char *path);

/** Write the extensions of all output formats, ".mha .mhd …", to buf[n]; returns buf. */
char *fbp_formats_written(char *buf, size_t n);

/**
 * Append a file format to the table of formats, which keeps the pointer. Programs that link the
 * library's objects call it before all other functions of the library.
 * @return false: the table is full
 */
bool fbp_formats_add(const struct fbp_format *format);

/** Requested properties of an output. */
struct fbp_write_mode {
    bool parts;    /**< several processes write one output */
    bool compress; /**< samples are compressed, if the format supports compression */
};

/**
 * Check, before any file is opened, that several processes can write the output `path`, if
 * ways->parts requests that: they cannot write a single compressed file or "hash:". A name of no
 * known format gives FBP_OK, because fbp_sink_open() refuses it.
 *
 * format  format of the file; NULL: chosen by the name
 * @return FBP_OK, FBP_ERR_UNSUPPORTED with a message
 */
fbp_status fbp_write_mode_check(const char *path, const struct fbp_sink_format *format,
                                const struct fbp_write_mode *ways);

/* source.c: opening of sources (arrays to read), and sources that wrap another source */

enum fbp_source_use {
    FBP_SOURCE_WHOLE,
    FBP_SOURCE_GROWING, /**< files that are still being written (--follow) */
    /** list of numbers: an array of one dimension is accepted, too */
    FBP_SOURCE_LIST,
    FBP_SOURCE_IMAGINARY, /**< imaginary parts of complex samples */
};

/** fbp_source_open() with an intended use. */
fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              enum fbp_source_use use);

/** Compute the mean image of all views of a source, mean[row][column]. FBP_ERR_IO: a file could not
 * be read, or has changed since the source was opened. */
fbp_status fbp_source_mean(fbp_source *source, double *mean);

/** Describe the array of `src`, a new source of float32 samples, like that of the source `below`.
 */
void fbp_source_like(fbp_source *src, const fbp_source *below);

/**
 * Initialize `src`, a new source that reads from the source `below`: set its name, its list of
 * files, and type and size of the stored samples. After a failure the caller closes src like any
 * other source.
 *
 * @return FBP_OK, FBP_ERR_NOMEM
 */
fbp_status fbp_source_wrap_set_up(fbp_source *src, fbp_source *below);

/** Function that fills in `src`, a new source that reads from the source `below`; `what`:
 * parameters of the new source. */
typedef fbp_status fbp_source_set_up(fbp_source *src, const void *what, fbp_source *below);

/**
 * Open a source that has no file of its own and reads from the source `below`; set_up() fills it
 * in.
 *
 * what   parameters, passed to set_up()
 * below  must outlive *out
 * owned  `below` is closed together with *out, also if this function fails
 * @return FBP_ERR_NOMEM, or the status of set_up()
 */
fbp_status fbp_source_wrap(fbp_source **out, fbp_source_set_up *set_up, const void *what,
                           fbp_source *below, bool owned);

/** Wrap a source whose views can only be read in order, such as a compressed file. The new source
 * keeps in memory all views that it has read, so threads can request views in any order. below,
 * owned: see fbp_source_wrap(). */
fbp_status fbp_source_hold(fbp_source **out, fbp_source *below, bool owned);

/** Memory that a source of fbp_source_hold() needs in addition to the memory of the source `below`
 * that it wraps [bytes]. */
uint64_t fbp_hold_bytes(const fbp_source *below);

/**
 * Decompress views [0, n) of a source that fbp_source_hold() opened; without this call, they are
 * decompressed when they are first read. Does nothing for other sources.
 *
 * idle  called every few hundredths of a second; may be NULL
 * @return FBP_ERR_CANCELLED if `idle` returns nonzero, or the status of reading
 */
fbp_status fbp_hold_fill(fbp_source *src, size_t n, fbp_idle_fn *idle, void *user);

/**
 * Replace *views, an array of sinograms [row][view][column], by a source of its views
 * [view][row][column], which owns it (source_sinograms.c).  Rows of a view are read one by one from
 * their sinograms.  Compressed arrays, and those whose format decodes blocks, are held in memory,
 * because each view needs a part of all of them.
 * @return FBP_ERR_NOMEM; *views is then closed
 */
fbp_status fbp_source_transpose(fbp_source **views);

/**
 * Fill in `src`, a source with one file per view (source_stack.c). src->path: a folder of files, or
 * a pattern of file names.
 *
 * raw: description of files without headers; raw->n[2]: number of files, 0: not stated. This
 * function opens all files once; of a scan that is still being measured, only the first one, and
 * only if it has a header.
 */
fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw);

/* sink.c: outputs */

/** Address of the slices of a sink that stores them in memory of the calling program, as float or
 * double; NULL: the sink stores its slices elsewhere. Code that writes slices to this address then
 * calls fbp_sink_mark(). */
void *fbp_sink_samples(const fbp_sink *sink);
/** Record slices [z0, z0 + nz) as written. */
void fbp_sink_mark(fbp_sink *sink, size_t z0, size_t nz);
const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink);

/** Slices that one of several processes writes into a shared output, in any order, and the role of
 * this process. */
struct fbp_sink_share {
    size_t part, n_parts;      /**< number of this process, 1 to n_parts */
    const unsigned char *mine; /**< [info->n[2]] 1: this process writes the slice */
    /** This process is the first of several that start together: it resumes files of an earlier run
     * of the same output if fbp_sink_params.resume is set, else removes them. All other processes
     * join the files of an output of several processes; those of a single process only if `resume`
     * is set. */
    bool first;
    bool led; /**< this process leaves it to the process with `first` set to publish the output */
};

/**
 * fbp_sink_open() for one of several processes (array/shared_output.h). Slices that other processes
 * have written are not written again (fbp_sink_has()). fbp_sink_finish() requires only the slices
 * of this process. The last process that calls it gives the output its final name, unless
 * joint->led is set. In the `first` process, which must be the last to call it, a missing slice is
 * an error.
 */
fbp_status fbp_sink_open_shared(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                                const struct fbp_sink_params *params,
                                const struct fbp_sink_share *joint);

/** A probe: name and first bytes of a file that one process of a shared output has just created.
 * Other processes try to read the file: if they can, all use the same file system. */
struct fbp_sink_probe {
    char path[4096]; /**< "": the sink has no files */
    char text[200];
};
void fbp_sink_probe(const fbp_sink *s, struct fbp_sink_probe *out);
/** Whether this process can read a probe, a file that another process created: both then use the
 * same file system. Waits up to three seconds for slow file systems. */
bool fbp_sink_sees_probe(const struct fbp_sink_probe *probe);

/** After fbp_sink_finish(): number of slices that this process did not find stored, because other
 * processes still have to write them; 0: the output is complete. */
size_t fbp_sink_missing(const fbp_sink *sink);

/** Message about a failure that does not affect the finished output, such as a temporary file that
 * could not be removed; NULL: no such failure. The sink owns the text. */
const char *fbp_sink_note(const fbp_sink *sink);

/** Memory that writing an output needs, and slices per layer of its chunks. A plan (the prepared
 * reconstruction) computes them before the output is opened. */
struct fbp_output_needs {
    /** slices per layer of chunk files (chunks with equal z); 0: no chunks */
    size_t layer;
    uint64_t writer_bytes; /**< greatest memory per thread that writes slices [bytes] */
    /** memory of the threads that compute coarser levels of OME-Zarr (fbp_sink_params.level_bytes)
     * [bytes] */
    uint64_t level_bytes;
};

/** Compute the memory and the layer height that an output of n voxels x, y, z needs. path: name of
 * the output, NULL: unknown; limit: greatest memory [bytes]. */
void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out);

/** Declare the slices of an unfinished sink invalid: fbp_sink_close() then removes its files. */
void fbp_sink_forget(fbp_sink *sink);

/** Number of slices that --resume would find if this sink were closed now; sink NULL: 0. */
size_t fbp_sink_resumable(fbp_sink *sink);

/*
 * spool.c: float values of an integer output whose range is determined from the values
 *
 * The floats are stored in a file NAME.values.raw.part beside the output NAME (if each slice is a
 * file: beside their folder), with a journal as for any sink; an interrupted run can therefore be
 * resumed. The output is written when all floats are stored.
 */

/**
 * Open the temporary sink for the float values of an integer output. Name, folder and disk space of
 * the integer output are checked first.
 *
 * output, info, params: arguments with which the integer output will be opened, except
 * params->range. The output "null:" has no temporary file.
 */
fbp_status fbp_spool_open(fbp_sink **values, const char *output, const struct fbp_array_info *info,
                          const struct fbp_sink_params *params);

/**
 * Find the least and the greatest finite value among all stored floats. If both are equal, the
 * range is extended upwards. For the output "null:", which stores nothing, the caller has to set
 * range[2].
 * @return FBP_ERR_INVALID if no value is finite
 */
fbp_status fbp_spool_range(const fbp_sink *values, double range[2]);

/** Copy all slices of the temporary sink `values` to the sink `to`, `at_once` slices at a time.
 * stops: called before each step; nonzero cancels (FBP_ERR_CANCELLED). */
fbp_status fbp_spool_copy(const fbp_sink *values, fbp_sink *to, size_t at_once,
                          int (*stops)(void *user), void *user);

/** Close the temporary sink of float values, remove all its files, and set *values to NULL. */
void fbp_spool_discard(fbp_sink **values);

#endif /* FBP_SRC_ARRAY_ARRAY_H */
