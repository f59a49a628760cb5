/** @file array.h  Three-dimensional arrays on disk: sources, sinks, and what can be asked of them.
 */
#ifndef FBP_ARRAY_H
#define FBP_ARRAY_H

#include "fbp/types.h"

FBP_BEGIN

/** Element types a source can hold; everything is delivered and accepted as float. */
enum fbp_type {
    FBP_TYPE_NONE = 0,
    FBP_U8,
    FBP_I8,
    FBP_U16,
    FBP_I16,
    FBP_U32,
    FBP_I32,
    FBP_F32,
    FBP_F64,
};

/** Bytes of one element; 0 for FBP_TYPE_NONE. */
FBP_API size_t fbp_type_size(enum fbp_type type);
/** "uint8" … "float64"; "none". */
FBP_API const char *fbp_type_name(enum fbp_type type);
/** Inverse of fbp_type_name(); FBP_TYPE_NONE for an unknown name. */
FBP_API enum fbp_type fbp_type_from_name(const char *name);

/** Which way the row index of a stored picture runs. */
enum fbp_row_order {
    FBP_ROWS_AUTO = 0,  /**< what the file format usually means */
    FBP_ROWS_BOTTOM_UP, /**< row index grows with +v */
    FBP_ROWS_TOP_DOWN,  /**< row 0 is the top of the picture */
};

/** Layout of a headerless file.  type NONE: the file has a header of its own. */
struct fbp_raw {
    enum fbp_type type;
    size_t n[3]; /**< columns, rows, slices; slices 0 = as many as the file holds */
    bool big_endian;
    uint64_t header_bytes;
};

/** What is known about an array before a sample of it is read. */
struct fbp_array_info {
    size_t struct_size;
    size_t n[3]; /**< x, y, z of a volume; columns, rows, views of projections */
    enum fbp_type type;
    bool big_endian;
    bool has_spacing; /**< spacing_mm and origin_mm come from the file */
    double spacing_mm[3];
    double origin_mm[3];          /**< centre of element (0,0,0) */
    enum fbp_row_order row_order; /**< the format's habit, never AUTO */
    char unit[16];                /**< "1/mm", "HU"; "" = unknown */
    char format[16];              /**< "mha", "mhd", "npy", "raw" */
    /** What stored numbers mean: value = scale * number + offset.  scale 0: they are the values. */
    double scale, offset;
    char taken[304]; /**< of a folder: which files were taken, a sentence; else "" */
};

/** A format of arrays.  Lists of extensions have blanks between them, ".mha .mhd"; "": there are
 *  none.  Upper and lower case are the same. */
struct fbp_array_format {
    size_t struct_size;
    const char *name;       /**< "mha", as fbp_array_info.format begins */
    const char *title;      /**< "MHA", for people */
    const char *read;       /**< files that are read; of other names by their content, too */
    const char *written;    /**< outputs of one file, with its samples perhaps in a second one */
    const char *compressed; /**< those of `written` that fbp_sink_params.compress makes smaller, or
                                 that always are compressed */
    const char *slices;     /**< stacks of a file a slice, "out/slice_%04d.png"; where they are not
                                 in `written`, a name without a number is a file of one slice */
    bool headerless;        /**< read only by a description (struct fbp_raw) */
    bool has_members;       /**< a file holds several arrays: "FILE:ARRAY" */
    bool integers_only;     /**< written as FBP_U8 or FBP_U16 */
};

/** All formats, with a NULL behind the last; they last as long as the program. */
FBP_API const struct fbp_array_format *const *fbp_array_formats(void);

typedef struct fbp_source fbp_source;

/**
 * Open an array for reading; the format is detected from content, then from the extension.
 *
 * @param[out] out   NULL on failure.  Free with fbp_source_close().
 * @param      path  a file, or a pattern of files of one slice each with its first and last number,
 *                   such as "views/%04d.mha 1 360" (%d, or %0Nd padded with zeros to N digits), or
 *                   a folder: its files of the format that most of them have, one slice each, by
 *                   the numbers in their names; hidden files are ignored.
 * @param      raw   layout of a headerless file, or NULL / type NONE; of a pattern: of all files
 *                   together, but for header_bytes, which each has.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (damaged or contradictory header),
 * FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_open(fbp_source **out, const char *path,
                                                  const struct fbp_raw *raw);

/**
 * Open projections that are still being written: a file that views are appended to, whose header
 * tells how many there will be (`raw` does for a headerless file, which need not be there yet), or
 * a pattern of files that come one after another.  Reading waits until the views are complete.  A
 * plan made for such a source follows it (fbp_recon_params.source).
 *
 * timeout_s  reading fails when nothing was written for so long; 0: it waits for ever
 * @return as fbp_source_open(); FBP_ERR_UNSUPPORTED for compressed samples.  Reading fails with
 *         FBP_ERR_IO if the file shrinks or is replaced.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_follow(fbp_source **out, const char *path,
                                                    const struct fbp_raw *raw, double timeout_s);

/**
 * Samples in the caller's memory as a source: [n[2]][n[1]][n[0]] of info->type, in this machine's
 * byte order.  They must stay as they are until the source is closed.  A device copies float32 rows
 * that run upwards (info->row_order) straight from there, if it can reach them (recon.h).  NULL
 * describes views that are not there yet, for a plan.
 *
 * info: n, type and row_order are used.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_memory(fbp_source **out, const void *samples,
                                                    const struct fbp_array_info *info);
FBP_API const struct fbp_array_info *fbp_source_info(const fbp_source *src);

/**
 * Read rows [row0, row0+n_rows) of slices [slice0, slice0+n_slices) as float.
 *
 * out: [n_slices][n_rows][n[0]], x fastest, rows in file order; values, where the file says how its
 * numbers are scaled.  Safe from several threads.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_read(fbp_source *src, size_t slice0, size_t n_slices,
                                                  size_t row0, size_t n_rows, float *out);
/**
 * Are the files of a source still those that were opened, with the same sizes and times?  To be
 * asked when all is read, before results are used; a plan's run does so itself.
 * @return FBP_OK, or FBP_ERR_IO with a message that names the file.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_unchanged(fbp_source *src);
/** Close and set to NULL.  *src may be NULL. */
FBP_API void fbp_source_close(fbp_source **src);

/** The same as fbp_scan_reads() of an array, or of any other file that is read. */
FBP_API bool fbp_array_reads(const char *array, const char *file);

/** How a sink treats what it finds and leaves.  Zero means default. */
struct fbp_sink_params {
    size_t struct_size;
    bool resume;          /**< continue an interrupted run of the same fingerprint */
    bool compress;        /**< where the format can (fbp_array_format.compressed) */
    bool force;           /**< files of `keep` may be replaced when all is written */
    uint64_t fingerprint; /**< identifies everything the values depend on; 0 = not resumable */
    /** Files that must not be replaced, as they are what is computed from; entries may be NULL. */
    const char *const *keep;
    size_t n_keep;
    /** NONE and FBP_F32: values as they are.  FBP_U8 and FBP_U16: range[0] … range[1] become 0 …
     *  255 or 65535, rounded; what lies beyond becomes the end that is nearer, NaN 0. */
    enum fbp_type type;
    double range[2];
};

/** Not for a forked child of the process that opened it: writing and finishing say so there, and
 *  closing removes no file. */
typedef struct fbp_sink fbp_sink;

/**
 * Create an array under a temporary name (PATH.part, with a journal PATH.part.log when a
 * fingerprint is given).  Space for the whole array is reserved at once, so that a full disk is
 * found before anything is computed.  "null:" discards; "hash:" computes fbp_sink_hash().
 *
 * "out/slice_%04d.tif" or ".png" is a stack of files, one a slice, numbered from 0; the folder is
 * created.  Each is written as NAME.part, and all get their names at the end.
 *
 * info: n, spacing_mm, origin_mm and unit are used.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_open(fbp_sink **out, const char *path,
                                                const struct fbp_array_info *info,
                                                const struct fbp_sink_params *params);

/** The caller's memory, [n[2]][n[1]][n[0]], as a sink. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_memory(fbp_sink **out, float *samples,
                                                  const size_t n[3]);

/** True if slices [z0, z0+nz) were written, and verified, before a resumed run was interrupted. */
FBP_API bool fbp_sink_has(const fbp_sink *sink, size_t z0, size_t nz);

/** Write slices [z0, z0+nz); data: [nz][n[1]][n[0]].  Any order, each slice once; thread-safe. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_write(fbp_sink *sink, size_t z0, size_t nz,
                                                 const float *data);

/** All slices are written: publish the file under its final name.  Replaces an existing file. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_finish(fbp_sink *sink);

/** Values so far that were beyond params.range, or NaN; of a resumed run since it was resumed. */
FBP_API uint64_t fbp_sink_clipped(const fbp_sink *sink);

/** Hash of all values, equal for equal volumes whatever the order of writing; hash: sinks only. */
FBP_API uint64_t fbp_sink_hash(const fbp_sink *sink);

/**
 * Close and set to NULL.  Without a successful fbp_sink_finish() nothing appears under the final
 * name; the temporary file is kept if it can be resumed and holds at least one slice, else removed.
 */
FBP_API void fbp_sink_close(fbp_sink **sink);

/**
 * Write a small text file: beside its name, brought to disk, then renamed, so that there is never
 * half of it under its name, and an older file stays if the disk is full.
 *
 * replace  false: a file that is there is an error
 * @return FBP_ERR_IO, FBP_ERR_INVALID (it is there, or is not a regular file), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_text_save(const char *path, const char *text, bool replace);

/** What fbp_array_compare() finds; mean_a and mean_b over the same elements as the differences. */
struct fbp_comparison {
    size_t struct_size;
    size_t count;   /**< elements compared: all but those that are NaN in both */
    double rmse;    /**< sqrt(mean (a-b)^2) */
    double nrmse;   /**< rmse / rms(b) */
    double max;     /**< max |a-b| */
    double psnr_db; /**< 20 log10(max|b| / rmse); 999 when equal */
    double mean_a, mean_b;
};

/**
 * Compare two volumes of equal size, slice by slice.  A NaN on one side makes rmse NaN; elements
 * that are NaN on both, such as masked ones, do not count.
 *
 * inside_radius_mm: only elements whose distance from the z axis through the volume's middle is
 * at most this; 0 = all.  Needs spacing in `a` or `b` when positive.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_array_compare(const char *path_a, const char *path_b,
                                                    double inside_radius_mm,
                                                    struct fbp_comparison *out);

FBP_END

#endif /* FBP_ARRAY_H */
