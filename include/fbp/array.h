/** @file array.h  Three-dimensional arrays in files and in memory: sources read them, sinks write
 * them; comparison of two arrays.  Called by programs, bindings, cli and many folders of src.
 *
 * Projections are an array of views, a volume is an array of slices. */
#ifndef FBP_ARRAY_H
#define FBP_ARRAY_H

#include "fbp/types.h"

FBP_BEGIN

/** Types of the elements of a stored array.  For every type, reading returns float or double, and
 * writing takes float or double. */
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

/** Size of one element of a type [bytes]; 0 for FBP_TYPE_NONE. */
FBP_API size_t fbp_type_size(enum fbp_type type);

/** Order of the rows of a stored image. */
enum fbp_row_order {
    FBP_ROWS_AUTO = 0,  /**< the usual order of the file format */
    FBP_ROWS_BOTTOM_UP, /**< row index grows with +v */
    FBP_ROWS_TOP_DOWN,  /**< row 0 is the top of the image */
};

/** Layout of the samples in a file without a header.  type FBP_TYPE_NONE: the file has a header. */
struct fbp_raw {
    enum fbp_type type;
    size_t n[3]; /**< number of columns, rows and slices; 0 slices: as many as the file contains */
    bool big_endian;
    uint64_t header_bytes; /**< bytes before the first sample */
};

/** Description of an array (header of its file), available before samples are read. */
struct fbp_array_info {
    size_t struct_size;
    size_t n[3]; /**< volume: elements along x, y, z; projections: columns, rows, views */
    enum fbp_type type;
    bool big_endian;
    bool has_spacing; /**< true: the file contains the spacing and the origin of the elements */
    double spacing_mm[3];
    double origin_mm[3]; /**< centre of element (0,0,0) */
    /** Order of the rows.  In fbp_source_info() never AUTO.  In the description of a source in
     * memory or of functions, 0 (AUTO) means bottom-up. If fbp_scan.row_order is not AUTO, it
     * replaces this order for projections. */
    enum fbp_row_order row_order;
    char unit[16];   /**< unit of the values: "1/mm", "1/mm^3", "1/cm", "HU"; "": unknown */
    char format[16]; /**< "mha", "mhd", "npy", "raw" … */
    /** Linear map of stored numbers: value = scale * number + offset; scale 0: the stored numbers
     * are the values. */
    double scale, offset;
    char taken[304]; /**< sentence about a choice made when the array was opened: which files of a
                        folder, or which part of complex samples; "": no choice */
    /** Number of volumes in the array, such as the delays of one measurement; they are stored one
     * after another, with n[2] / time_points slices each.  0 and 1: one volume. */
    size_t time_points;
    char history[256]; /**< description of earlier processing steps; "": not known */
    /** Warning, one sentence, that the array lacks slices, or lacks chunks (never written or not
     * copied), which are read as the fill value; "": nothing is missing. */
    char missing[400];
    /** If the file is one slice of a stack: index of the slice, from 0, and number of slices of the
     * stack; slices 0: not known. */
    size_t slice, slices;
};

/** A file format of arrays.  Lists of file-name extensions are separated by blanks, such as ".mha
 * .mhd"; "": none.  Upper and lower case count as equal. */
struct fbp_array_format {
    size_t struct_size;
    const char *name;    /**< short name of the format, such as "mha"; fbp_array_info.format begins
                            with this name */
    const char *title;   /**< name of the format in messages, such as "MHA" */
    const char *read;    /**< extensions of files that are read; files with other extensions are
                            recognized by content */
    const char *written; /**< extensions of written files: one file, or a header and samples */
    /** Extensions of written files that are compressed, always or on request
     * (fbp_sink_params.compress). */
    const char *compressed;
    /** Extensions of files that are written as a stack, one file per slice, such as
     * "out/slice_%04d.png"; a name without a number is a single slice, unless the format can store
     * a whole array in one file (member `written`). */
    const char *slices;
    /** True: files have no header, and are read only with a struct fbp_raw, their layout. */
    bool headerless;
    bool has_members;   /**< true: a file contains several arrays, named by "FILE:ARRAY" */
    bool integers_only; /**< true: the format can only be written as FBP_U8 or FBP_U16 */
    bool folders;       /**< true: an array is a folder of files; an existing folder is replaced */
};

/** Return the constant list of all array formats, with a NULL after the last one. */
FBP_API const struct fbp_array_format *const *fbp_array_formats(void);

/** An array that is open for reading. */
typedef struct fbp_source fbp_source;

/**
 * Open an array for reading.  The format is recognized by the content, then by the extension.
 *
 * @param[out] out   NULL on failure; free it with fbp_source_close()
 * @param      path  a file; or a pattern of files with one slice each, with the first and the last
 *                   number, such as "views/%04d.mha 1 360" (%d, or %0Nd for numbers padded with
 *                   zeros to N digits); or a folder: the files of its most frequent format, with
 *                   one slice each, in the order of the numbers in their names, without hidden
 *                   files
 * @param      raw   layout of a headerless file; NULL or type FBP_TYPE_NONE: the file has a header.
 *                   For a pattern, the layout of all files together, but header_bytes of each.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (damaged or contradictory header),
 *         FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_open(fbp_source **out, const char *path,
                                                  const struct fbp_raw *raw);

/**
 * Open projections that are still being written: a file that grows view by view, or a pattern of
 * files that appear one after another.  The header of a growing file has the final number of views;
 * a headerless file with `raw` need not exist yet.  Reading waits until the views are complete.  A
 * plan made for such a source follows it (fbp_recon_params.input.source).
 *
 * timeout_s  reading fails if nothing was written for this time [s]; 0: never
 * @return as fbp_source_open(); FBP_ERR_UNSUPPORTED for compressed samples.  Reading fails with
 *         FBP_ERR_IO if the file shrinks or is replaced.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_follow(fbp_source **out, const char *path,
                                                    const struct fbp_raw *raw, double timeout_s);

/**
 * Create a source of samples in the caller's memory: [n[2]][n[1]][n[0]] of info->type, in the byte
 * order of this machine.  A device copies float32 samples without a buffer if row 0 is at the
 * bottom (info->row_order) and the device can access the memory (fbp_plan_alloc()).
 *
 * samples  must not change until the source is closed.  NULL: the source only describes views, for
 *          a plan whose runs get another source.
 * info     n, type, row_order (0: bottom-up), scale and offset are used
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_memory(fbp_source **out, const void *samples,
                                                    const struct fbp_array_info *info);
/** Return the description of an open array.  The struct belongs to the source. */
FBP_API const struct fbp_array_info *fbp_source_info(const fbp_source *src);

/**
 * Read rows [row0, row0 + n_rows) of slices [slice0, slice0 + n_slices).  If the file contains a
 * scale for its numbers, the values are scaled.  Several threads may call this function at the same
 * time.
 *
 * type  FBP_F32, or FBP_F64, which rounds no stored and no scaled value
 * out   [n_slices][n_rows][n[0]] of float or double, x fastest, rows in the order of the file
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_read(fbp_source *src, size_t slice0, size_t n_slices,
                                                  size_t row0, size_t n_rows, enum fbp_type type,
                                                  void *out);

/** Close a source (an array open for reading) and set the caller's pointer to NULL.  The pointer
 * may be NULL already. */
FBP_API void fbp_source_close(fbp_source **src);

/** Parameters for writing an array (fbp_sink_open()).  0 means the default. */
struct fbp_sink_params {
    size_t struct_size;
    /** True: continue the output of an interrupted run with the same fingerprint (hash of
     * parameters and inputs). */
    bool resume;
    bool compress; /**< true: compress the file, if the format supports it
                      (fbp_array_format.compressed) */
    /** True: when it is complete, the output may replace a file listed in `keep`. */
    bool force;
    uint64_t fingerprint; /**< hash of all parameters and inputs on which the values depend; 0: an
                             interrupted run cannot be resumed */
    /** Paths of input files, which the output replaces only with `force`; entries may be NULL. */
    const char *const *keep;
    size_t n_keep; /**< number of entries of `keep` */
    /** Type of the stored values.  FBP_TYPE_NONE and FBP_F32: float; FBP_F64: double.  FBP_U8 and
     * FBP_U16: range[0] … range[1] is mapped to 0 … 255 or 65535 and rounded; values outside the
     * range become the nearer end, and NaN is stored as 0. */
    enum fbp_type type;
    double range[2];
    /** Memory of the threads that compute and compress the coarser resolution levels of an OME-Zarr
     * output [bytes]; 0: enough for eight threads.  It limits the number of threads, of which at
     * least one runs. */
    uint64_t level_bytes;
};

/** An array that is open for writing.  A sink belongs to the process that opened it: in a forked
 * child, writing and finishing fail, and closing removes no file. */
typedef struct fbp_sink fbp_sink;

/**
 * Create an array under a temporary name: PATH.part.  While the array is written, PATH.part.log
 * also exists; with a fingerprint it is the journal for resuming.  The disk space of the whole
 * array is reserved at once, so a full disk is an error before anything is computed.  "null:"
 * writes nothing; "hash:" computes fbp_report.hash.
 *
 * "out/slice_%04d.tif" or ".png" is a stack: one file per slice, numbered from 0.  The folder is
 * created.  Each file is first written as NAME.part, and all are renamed at the end.
 *
 * info    n, spacing_mm, origin_mm, unit, time_points and history are used.  spacing_mm all 0: no
 *         spacing and no origin are stored.  The other members are ignored, also has_spacing and
 *         type: the type is that of `params`.
 * params  NULL: all defaults
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_open(fbp_sink **out, const char *path,
                                                const struct fbp_array_info *info,
                                                const struct fbp_sink_params *params);

/** Create a sink that writes into memory of the caller, [n[2]][n[1]][n[0]] of `type`: FBP_F32 or
 * FBP_F64. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_memory(fbp_sink **out, void *samples, enum fbp_type type,
                                                  const size_t n[3]);

/** True if slices [z0, z0 + nz) are already stored in the sink, by this run or by the interrupted
 * run that is resumed. */
FBP_API bool fbp_sink_has(const fbp_sink *sink, size_t z0, size_t nz);

/** Write slices [z0, z0 + nz).  Slices may be written in any order, but each only once.  Several
 *  threads may write at the same time.
 *
 * type  type of `data`: FBP_F32 or FBP_F64, for any type of the sink; values that are stored as
 *       float32 or as integers are rounded to float first
 * data  [nz][n[1]][n[0]]
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_write(fbp_sink *sink, size_t z0, size_t nz,
                                                 enum fbp_type type, const void *data);

/** Finish an array after all its slices were written: rename the file to its final name.  An
 * existing file of this name is replaced. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_finish(fbp_sink *sink);

/** Sinks of integers: return the number of written values that were NaN or outside of
 * fbp_sink_params.range; in a resumed run, without those that were written before the interruption.
 */
FBP_API uint64_t fbp_sink_clipped(const fbp_sink *sink);

/**
 * Close a sink and set the caller's pointer to NULL.  Without a successful fbp_sink_finish() no
 * file has the final name.  The temporary file is kept if the run can be resumed and at least one
 * slice is written; else it is removed.
 */
FBP_API void fbp_sink_close(fbp_sink **sink);

/** Result of fbp_array_compare() for arrays a and b. */
struct fbp_comparison {
    size_t struct_size;
    /** Number of compared elements; elements that are NaN, or the same infinity, in both arrays are
     * excluded. */
    size_t count;
    double rmse;    /**< sqrt(mean (a-b)^2) */
    double nrmse;   /**< rmse / rms(b) */
    double max;     /**< max |a-b| */
    double psnr_db; /**< 20 log10(max|b| / rmse); 999 if equal */
    /** Means of a and b over the compared elements; NaN: no element was compared. */
    double mean_a, mean_b;
    size_t not_finite; /**< number of excluded elements, which are NaN in both arrays, or the same
                          infinity in both */
};

/**
 * Compare two arrays of equal size.  Elements that are NaN in both (such as masked ones), or the
 * same infinity in both, are equal and left out.  If an element is NaN in only one of them, rmse is
 * NaN.
 *
 * inside_radius_mm  compare only elements within this distance [mm] of the z axis through the
 *                   volume's centre, for which one of the arrays must have a spacing; 0: all
 * @return FBP_ERR_INVALID for different sizes, no spacing, or no element within the distance; else
 *         as fbp_source_open().
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_array_compare(const char *path_a, const char *path_b,
                                                    double inside_radius_mm,
                                                    struct fbp_comparison *out);

FBP_END

#endif /* FBP_ARRAY_H */
