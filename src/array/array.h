/** @file array.h  Sources and sinks as the other folders of the library use them (internal).
 *
 * Beside the public interface (fbp/array.h): the table of formats, special sources, sources that
 * read from another source, outputs that several processes write, and what an output needs.
 * array/file/ defines formats and reads opened files; array/format/ holds the formats.
 */
#ifndef FBP_SRC_ARRAY_ARRAY_H
#define FBP_SRC_ARRAY_ARRAY_H

#include "array/file/format.h"

/* --- Formats (formats.c) --- */

/** Format number i of the table; NULL beyond the last. */
const struct fbp_format *fbp_format_at(size_t i);

/** The format by which a file of this name is read; NULL if none has the extension. */
const struct fbp_format *fbp_format_of_name(const char *path);

/** The format of a folder that is one array; NULL: no folder, or no such format. */
const struct fbp_format *fbp_format_of_folder(const char *path);

/** The format by which a file of this name, or an array in it, is written; NULL: none.  The first
 *  *n bytes of the name are that of the file. */
const struct fbp_sink_format *fbp_format_to_write(const char *path, size_t *n);

/** The format of an output with a file per slice, "out/slice_%04d.tif" or "slice.png"; NULL: the
 *  name is no such output. */
const struct fbp_format *fbp_format_of_slices(const char *path);

/** Extensions of the outputs that can be written, ".mha .mhd …", into buf; returns buf. */
char *fbp_formats_written(char *buf, size_t n);

/**
 * Append a format to the table, which keeps `format`: for tests, and programs that link the
 * library's objects.  Only before any other call of the library.
 * @return false: the table is full
 */
bool fbp_formats_add(const struct fbp_format *format);

/** How an output is to be written. */
struct fbp_write_mode {
    bool parts;    /**< by several processes */
    bool compress; /**< compressed, if its format can be */
};

/**
 * Check that an output of this name can be written so, before anything is opened.  A name without a
 * format is FBP_OK here: fbp_sink_open() refuses it.
 *
 * format  of the file; NULL: the one of the name
 * @return FBP_OK, FBP_ERR_UNSUPPORTED with a message
 */
fbp_status fbp_write_mode_check(const char *path, const struct fbp_sink_format *format,
                                const struct fbp_write_mode *ways);

/* --- Sources (source.c) --- */

enum fbp_source_use {
    FBP_SOURCE_WHOLE,
    FBP_SOURCE_GROWING,   /**< the file is still being written */
    FBP_SOURCE_LIST,      /**< a list of numbers: one dimension is enough */
    FBP_SOURCE_IMAGINARY, /**< the imaginary parts of complex samples; others are refused */
};

/** fbp_source_open() for this use. */
fbp_status fbp_source_open_as(fbp_source **out, const char *path, const struct fbp_raw *raw,
                              enum fbp_source_use use);

/** The mean of all slices [row][column]; FBP_ERR_IO also if the file has changed. */
fbp_status fbp_source_mean(fbp_source *source, double *mean);

/**
 * Fill in what every source that reads from `below` has: its name, its files, and the type and
 * amount of what is stored in these.  If this fails, the caller closes src as any other source.
 *
 * @return FBP_OK, FBP_ERR_NOMEM
 */
fbp_status fbp_source_wrap_set_up(fbp_source *src, fbp_source *below);

/** Fills in a source that reads from `below`; `what` describes it. */
typedef fbp_status fbp_source_set_up(fbp_source *src, const void *what, fbp_source *below);

/**
 * Open a source without a file, which set_up() fills in.
 *
 * below  must outlive *out
 * owned  `below` is closed together with *out, also if this function fails
 * @return FBP_ERR_NOMEM, or the status of set_up()
 */
fbp_status fbp_source_wrap(fbp_source **out, fbp_source_set_up *set_up, const void *what,
                           fbp_source *below, bool owned);

/**
 * Open a source on one that is read in order, each view once.  It keeps the views in memory as they
 * are stored, so that threads read them in any order.  below, owned: as for fbp_source_wrap().
 */
fbp_status fbp_source_hold(fbp_source **out, fbp_source *below, bool owned);

/** Memory that fbp_source_hold() takes in addition to that of `below` [bytes]. */
uint64_t fbp_hold_bytes(const fbp_source *below);

/**
 * Unpack views [0, n) of fbp_source_hold() now; reading unpacks what is missing.  Does nothing for
 * other sources.
 *
 * idle  called every few hundredths of a second; may be NULL
 * @return FBP_ERR_CANCELLED by `idle`, or the status of reading
 */
fbp_status fbp_hold_fill(fbp_source *src, size_t n, fbp_idle_fn *idle, void *user);

/** Fill in src, whose path is a pattern or a folder with a file per view (source_stack.c).
 *
 *  raw: each of the files has no header; n[2] is the number of files or 0.  All files are opened
 *  once; of a growing source only the first, if it has a header. */
fbp_status fbp_stack_open(struct fbp_source *src, const struct fbp_raw *raw);

/* --- Sinks (sink.c) --- */

/** Samples of a sink in the caller's memory, float or double as its info says; NULL for other
 *  sinks.  A writer that fills them without fbp_sink_write() calls fbp_sink_written(). */
void *fbp_sink_samples(const fbp_sink *sink);
void fbp_sink_written(fbp_sink *sink, size_t z0, size_t nz);
const struct fbp_array_info *fbp_sink_info(const fbp_sink *sink);

/** The share of one of several processes that write one output, in any order, at any time. */
struct fbp_sink_share {
    size_t part, n_parts;      /**< for names and messages; parts are counted from 1 */
    const unsigned char *mine; /**< 1 for each slice, of info->n[2], that this process writes */
    bool first; /**< The first of several processes that start together.  It resumes what is left
                     under the name if fbp_sink_params.resume is set, else removes it.  Other
                     processes resume what several have begun, and refuse what one has left. */
    bool led;   /**< Another process is the first, and alone publishes when all have finished. */
};

/**
 * fbp_sink_open() for one of several processes (array/shared_output.h).  Slices that others have
 * written are not written again (fbp_sink_has()).  fbp_sink_finish() requires the slices of this
 * process only; the last process to finish publishes the output.  The `first` process calls it
 * after all others, and it fails if slices are missing.
 */
fbp_status fbp_sink_open_shared(fbp_sink **out, const char *path, const struct fbp_array_info *info,
                                const struct fbp_sink_params *params,
                                const struct fbp_sink_share *joint);

/** A probe: a file that a process of a shared output has just created, and its first bytes. */
struct fbp_sink_probe {
    char path[4096]; /**< "": the sink has no files */
    char text[200];
};
void fbp_sink_probe(const fbp_sink *s, struct fbp_sink_probe *out);
/** Whether this process sees the probe of another.  Waits some seconds for slow file systems. */
bool fbp_sink_sees_probe(const struct fbp_sink_probe *probe);

/** Slices that other processes still have to write after this sink is finished; 0: the output is
 *  published. */
size_t fbp_sink_missing(const fbp_sink *sink);

/** A sentence for the user about a failure that does no harm to the finished output; NULL: none.
 *  Owned by the sink. */
const char *fbp_sink_note(const fbp_sink *sink);

/** Memory per thread that converts slices to this type and packs them, at most [bytes]; 0 for
 *  FBP_F32. */
uint64_t fbp_sink_thread_bytes(enum fbp_type type);

/** What an output needs of its writers, in addition to the slices. */
struct fbp_output_needs {
    size_t layer;          /**< slices that lie in the same files; 0: any cut will do */
    uint64_t writer_bytes; /**< memory per thread that writes slices */
    uint64_t level_bytes;  /**< fbp_sink_params.level_bytes */
};

/** Needs of an output of this name (NULL: unknown) with n voxels x, y, z; limit: memory of the
 *  machine [bytes]. */
void fbp_output_needs(const char *path, const size_t n[3], enum fbp_type type, bool compress,
                      uint64_t limit, struct fbp_output_needs *out);

/** Declare all that was written wrong: closing the sink keeps nothing. */
void fbp_sink_forget(fbp_sink *sink);

/** Slices that a resumed run would find if the sink were closed now; 0 for NULL. */
size_t fbp_sink_resumable(fbp_sink *sink);

/* --- Floats of an output of integers whose range is found from them (spool.c) ---
 *
 * The floats go to a file of their own, NAME.values.raw.part beside the output NAME, with a journal
 * as that of any sink, so that an interrupted run can be resumed.  The output is written when all
 * of them are there. */

/**
 * Open the sink for the floats.  Name, folder and disk space of the output are checked first.
 *
 * output, info, params: those by which the output's sink will be opened, without params->range.
 * "null:" has no file.
 */
fbp_status fbp_spool_open(fbp_sink **values, const char *output, const struct fbp_array_info *info,
                          const struct fbp_sink_params *params);

/**
 * Get the least and the greatest finite value of all that was written.  If both are equal, the
 * range extends above them.  For "null:" *range holds the values on entry.
 * @return FBP_ERR_INVALID if there is no finite value
 */
fbp_status fbp_spool_range(const fbp_sink *values, double range[2]);

/** Copy all slices to the output's sink, `at_once` at a time.  stops: called before each group;
 *  nonzero cancels (FBP_ERR_CANCELLED). */
fbp_status fbp_spool_copy(const fbp_sink *values, fbp_sink *to, size_t at_once,
                          int (*stops)(void *user), void *user);

/** Close, remove all files, and set to NULL. */
void fbp_spool_discard(fbp_sink **values);

#endif /* FBP_SRC_ARRAY_ARRAY_H */
