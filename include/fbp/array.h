/** @file array.h  Three-dimensional arrays in files and in memory: sources, sinks, comparison. */
#ifndef FBP_ARRAY_H
#define FBP_ARRAY_H

#include "fbp/types.h"

FBP_BEGIN

/** Types of stored elements.  Sources return float or double, and sinks take float or double,
 *  whatever the type is. */
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

/** Order of the rows of a stored image. */
enum fbp_row_order {
    FBP_ROWS_AUTO = 0,  /**< usual order of the file format */
    FBP_ROWS_BOTTOM_UP, /**< row index grows with +v */
    FBP_ROWS_TOP_DOWN,  /**< row 0 is the top of the image */
};

/** Layout of a headerless file.  type NONE: the file has its own header. */
struct fbp_raw {
    enum fbp_type type;
    size_t n[3]; /**< columns, rows, slices; slices 0 = as many as the file holds */
    bool big_endian;
    uint64_t header_bytes;
};

/** Facts about an array, known before a sample is read. */
struct fbp_array_info {
    size_t struct_size;
    size_t n[3]; /**< x, y, z of a volume; columns, rows, views of projections */
    enum fbp_type type;
    bool big_endian;
    bool has_spacing; /**< spacing_mm and origin_mm come from the file */
    double spacing_mm[3];
    double origin_mm[3];          /**< centre of element (0,0,0) */
    enum fbp_row_order row_order; /**< that of the format; never AUTO */
    char unit[16];                /**< "1/mm", "1/mm^3", "1/cm", "HU"; "" = unknown */
    char format[16];              /**< "mha", "mhd", "npy", "raw" */
    /** value = scale * stored number + offset.  scale 0: the stored numbers are the values. */
    double scale, offset;
    char taken[304]; /**< for a folder: a sentence about the files that are used; else "" */
    /** Number of volumes of a series, such as delays of one measurement, stored one after another
     *  with n[2] / frames slices each.  0 and 1: no series. */
    size_t frames;
    char history[256]; /**< earlier processing steps in words; "": not known */
    /** A sentence about samples that were never stored, or not copied, and are read as the fill
     *  value, with their number; "": none. */
    char missing[400];
    /** For a file that is one slice of a stack: its number, from 0, and the number of slices; 0:
     * not known. */
    size_t slice, slices;
};

/** A format of arrays.  Extensions in a list are separated by blanks: ".mha .mhd".  "": none. Upper
 *  and lower case are the same. */
struct fbp_array_format {
    size_t struct_size;
    const char *name;    /**< "mha"; fbp_array_info.format begins with it */
    const char *title;   /**< "MHA", for messages */
    const char *read;    /**< extensions that are read; other files are recognized by content */
    const char *written; /**< extensions of outputs: one file, or a header and a file of samples */
    const char *compressed; /**< extensions in `written` that can be compressed
                               (fbp_sink_params.compress), or always are */
    const char *slices;     /**< extensions of stacks, one file per slice: "out/slice_%04d.png".  If
                                 one is not in `written`, a name without a number is a single slice */
    bool headerless;        /**< can only be read with a description (struct fbp_raw) */
    bool has_members;       /**< a file contains several arrays: "FILE:ARRAY" */
    bool integers_only;     /**< can only be written as FBP_U8 or FBP_U16 */
    bool folders;           /**< an array is a folder of files; one of that name is replaced */
};

/** All formats, with a NULL after the last one.  They are constants. */
FBP_API const struct fbp_array_format *const *fbp_array_formats(void);

typedef struct fbp_source fbp_source;

/**
 * Open an array for reading.  The format is recognized by content, then by the extension.
 *
 * @param[out] out   NULL on failure.  Free with fbp_source_close().
 * @param      path  a file; or a pattern of files, one slice each, with the first and the last
 *                   number, such as "views/%04d.mha 1 360" (%d, or %0Nd for numbers padded with
 *                   zeros to N digits); or a folder: the files of its most frequent format, one
 *                   slice each, in the order of the numbers in their names; hidden files are
 *                   ignored.
 * @param      raw   layout of a headerless file; NULL or type NONE: it has a header.  For a
 * pattern, the layout of all files together, but header_bytes of each.
 * @return FBP_OK, FBP_ERR_IO, FBP_ERR_INVALID (damaged or contradictory header),
 * FBP_ERR_UNSUPPORTED, FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_open(fbp_source **out, const char *path,
                                                  const struct fbp_raw *raw);

/**
 * Open projections that are still being written.  This can be a file that grows by one view after
 * another; its header (or `raw` for a headerless file, which need not exist yet) has the final
 * number of views.  It can also be a pattern of files that appear one after another.  Reading waits
 * until the views are complete.  A plan made for such a source follows it
 * (fbp_recon_params.source).
 *
 * timeout_s  reading fails if nothing was written for this time [s]; 0: never
 * @return as fbp_source_open(); FBP_ERR_UNSUPPORTED for compressed samples.  Reading fails with
 *         FBP_ERR_IO if the file shrinks or is replaced.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_follow(fbp_source **out, const char *path,
                                                    const struct fbp_raw *raw, double timeout_s);

/**
 * A source of samples in the caller's memory: [n[2]][n[1]][n[0]] of info->type, in the byte order
 * of this machine.  They must not change until the source is closed.  A device copies float32
 * samples without a buffer if row 0 is at the bottom (info->row_order) and the device can reach the
 * memory (fbp_plan_alloc()).  samples NULL: describes views for a plan that will get them later.
 *
 * info: n, type and row_order are used.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_memory(fbp_source **out, const void *samples,
                                                    const struct fbp_array_info *info);
FBP_API const struct fbp_array_info *fbp_source_info(const fbp_source *src);

/**
 * Read rows [row0, row0+n_rows) of slices [slice0, slice0+n_slices) as float.
 *
 * out: [n_slices][n_rows][n[0]], x fastest, rows in the order of the file.  If the file says how
 * its numbers are scaled, they are scaled.  Several threads may call it at the same time.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_read(fbp_source *src, size_t slice0, size_t n_slices,
                                                  size_t row0, size_t n_rows, float *out);

/** The same as double: samples of all types, and scaled values, without rounding. */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_read_double(fbp_source *src, size_t slice0,
                                                         size_t n_slices, size_t row0,
                                                         size_t n_rows, double *out);
/**
 * Check that the files of a source have not changed since they were opened (the same files, sizes
 * and times).  Call it after everything has been read, before results are used.  fbp_plan_run()
 * calls it itself.
 * @return FBP_OK, or FBP_ERR_IO with a message that names the file.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_source_unchanged(fbp_source *src);
/** Close and set to NULL.  *src may be NULL. */
FBP_API void fbp_source_close(fbp_source **src);

/** As fbp_scan_reads(), for an array or any other input file. */
FBP_API bool fbp_array_reads(const char *array, const char *file);

/** How a sink writes.  Zero means default. */
struct fbp_sink_params {
    size_t struct_size;
    bool resume;          /**< continue an interrupted run of the same fingerprint */
    bool compress;        /**< if the format can (fbp_array_format.compressed) */
    bool force;           /**< files in `keep` may be replaced, when everything has been written */
    uint64_t fingerprint; /**< hash of everything that the values depend on; 0: cannot be resumed
                           */
    /** Input files, which must not be replaced; entries may be NULL. */
    const char *const *keep;
    size_t n_keep;
    /** NONE and FBP_F32: values as they are; FBP_F64: the same in double.  FBP_U8 and FBP_U16:
     * range[0] … range[1] are mapped to 0 … 255 or 65535, and rounded.  Values outside become the
     * nearer end, NaN becomes 0. */
    enum fbp_type type;
    double range[2];
    /** Memory for computing and compressing smaller levels of an output in chunks (OME-Zarr)
     *  [bytes], at least that of one thread; 0: that of eight threads. */
    uint64_t level_bytes;
};

/** A sink belongs to the process that opened it.  In a forked child, writing and finishing fail,
 * and closing removes no file. */
typedef struct fbp_sink fbp_sink;

/**
 * Create an array under a temporary name: PATH.part, with a journal PATH.part.log if there is a
 * fingerprint.  The disk space of the whole array is reserved at once: a full disk is noticed
 * before anything is computed.  "null:" writes nothing; "hash:" computes fbp_sink_hash().
 *
 * "out/slice_%04d.tif" or ".png" is a stack: one file per slice, numbered from 0.  The folder is
 * created.  Each file is first written as NAME.part; at the end all are renamed.
 *
 * info: n, spacing_mm, origin_mm and unit are used.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_open(fbp_sink **out, const char *path,
                                                const struct fbp_array_info *info,
                                                const struct fbp_sink_params *params);

/** A sink into the caller's memory, [n[2]][n[1]][n[0]]. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_memory(fbp_sink **out, float *samples,
                                                  const size_t n[3]);

/** The same, of doubles. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_memory_double(fbp_sink **out, double *samples,
                                                         const size_t n[3]);

/** True if the interrupted run that is resumed has written slices [z0, z0+nz), and they are intact.
 */
FBP_API bool fbp_sink_has(const fbp_sink *sink, size_t z0, size_t nz);

/** Write slices [z0, z0+nz), data: [nz][n[1]][n[0]].  In any order, each slice once; several
 * threads may write at the same time. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_write(fbp_sink *sink, size_t z0, size_t nz,
                                                 const float *data);

/** The same from doubles.  All sinks accept both; values stored as float32 or as integers are
 *  rounded to float first. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_write_double(fbp_sink *sink, size_t z0, size_t nz,
                                                        const double *data);

/** All slices are written: give the file its final name.  Replaces an existing file. */
FBP_API FBP_MUST_CHECK fbp_status fbp_sink_finish(fbp_sink *sink);

/** Number of values so far that were outside params.range, or NaN; in a resumed run, since it was
 *  resumed. */
FBP_API uint64_t fbp_sink_clipped(const fbp_sink *sink);

/** Hash of all values; it does not depend on the order of writing.  Only for "hash:". */
FBP_API uint64_t fbp_sink_hash(const fbp_sink *sink);

/**
 * Close and set to NULL.  Without a successful fbp_sink_finish() there is no file of the final
 * name. The temporary file is kept if the run can be resumed and at least one slice is in it; else
 * it is removed.
 */
FBP_API void fbp_sink_close(fbp_sink **sink);

/**
 * Write a small text file: under a temporary name, flushed to disk, then renamed.  Under its own
 * name it is always complete; an older file is not lost if the disk is full.
 *
 * replace  false: an existing file is an error
 * @return FBP_ERR_IO, FBP_ERR_INVALID (it exists, or is not a regular file), FBP_ERR_NOMEM.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_text_save(const char *path, const char *text, bool replace);

/** The result of fbp_array_compare().  mean_a and mean_b are means over the compared elements. */
struct fbp_comparison {
    size_t struct_size;
    size_t count;          /**< number of elements compared: all but those of not_finite */
    double rmse;           /**< sqrt(mean (a-b)^2) */
    double nrmse;          /**< rmse / rms(b) */
    double max;            /**< max |a-b| */
    double psnr_db;        /**< 20 log10(max|b| / rmse); 999 if equal */
    double mean_a, mean_b; /**< means of the compared elements; NaN: none */
    size_t not_finite; /**< elements left out, which are equal: NaN in both, or the same infinity */
};

/**
 * Compare two volumes of equal size, slice by slice.  If an element is NaN in one of them, rmse is
 * NaN; elements that are NaN in both (such as masked ones), or the same infinity in both, are equal
 * and left out.
 *
 * inside_radius_mm: compare only elements within this distance of the z axis through the centre of
 * the volume; 0 = all.  If positive, `a` or `b` must have a spacing.
 */
FBP_API FBP_MUST_CHECK fbp_status fbp_array_compare(const char *path_a, const char *path_b,
                                                    double inside_radius_mm,
                                                    struct fbp_comparison *out);

FBP_END

#endif /* FBP_ARRAY_H */
