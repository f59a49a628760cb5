/** @file format.h  The interface of a format of arrays, the struct of an opened source, and
 * functions that several formats share (internal).
 *
 * A format is one struct fbp_format in array/format/. Its reader turns a header into fbp_array_info
 * and the position of the samples; if the samples are contiguous and uncompressed, source_read.c
 * reads them, else the format has its own read(). Its writer creates the bytes before the samples,
 * or encodes one slice as a whole file.
 * Used by: bench/, cli/, array/, picture/, pipeline/, prep/, scan/.
 */
#ifndef FBP_SRC_ARRAY_FILE_FORMAT_H
#define FBP_SRC_ARRAY_FILE_FORMAT_H

#include "base/base.h"
#include "fbp/array.h"

#include <pthread.h>

/* paths.c: names of inputs */

/** Parts of a pattern of file names such as "views/%04d.mha 1 360": text before and after the
 * placeholder %04d, with lengths, and the first and last number. */
struct fbp_pattern {
    const char *prefix, *suffix;
    int n_prefix, n_suffix, width;
    unsigned long long first, last;
};

/** Find the last placeholder %d or %0Nd in text[n], and fill in *out except first and last, the two
 * numbers of a pattern. false: the text has none, or another '%' follows it. */
bool fbp_pattern_place(const char *text, size_t n, struct fbp_pattern *out);

/** malloc'ed file name by a pattern such as "views/%04d.mha"; NULL when out of memory. */
char *fbp_pattern_name(const struct fbp_pattern *p, unsigned long long number);

/** Whether a file name without folders matches a pattern such as "%04d.mha", with any number of
 * digits. *number: the number in the name. */
bool fbp_pattern_fits(const struct fbp_pattern *p, const char *name, unsigned long long *number);

/** Parse a pattern with its two numbers; false: `path` is not such a pattern. */
bool fbp_pattern_parse(const char *path, struct fbp_pattern *out);

/** Print a path to a malloc'ed text, *out; NULL after FBP_ERR_NOMEM. */
fbp_status fbp_print_path(char **out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The text "?sinogram", after the name of a two-dimensional array: dimensions [view][column]. */
extern const char FBP_SINOGRAM[];

/**
 * Split the name of an input, such as "scan.h5:/exchange/data", into file and member (array in the
 * file). If a file with the whole name exists, there is no member. Otherwise the split is at the
 * last ':' whose preceding text names an existing file or folder. FBP_SINOGRAM after the name of a
 * file is a member, too.
 *
 * file    malloc'ed
 * member  malloc'ed, or NULL
 * @return FBP_OK or FBP_ERR_NOMEM
 */
fbp_status fbp_member_split(const char *path, char **file, char **member);

/** Length of FILE in an output's name "FILE:ARRAY", if FILE ends with one of `extensions`: 9 for
 * "volume.h5:/name"; else the length of the whole name. */
size_t fbp_member_output(const char *path, const char *extensions);

/** List of input names; each names a file, a pattern with two numbers, a folder, or an array in a
 * file ("FILE:ARRAY"). */
struct fbp_inputs {
    char **names;
    size_t n, room;
};

/** Append a copy of `name` to a list of inputs, unless the last entry is the same name; name NULL:
 * nothing is appended. */
fbp_status fbp_inputs_add(struct fbp_inputs *inputs, const char *name);

/** Append copies of the names in the list `more` to a list of inputs, without the first `skip`. */
fbp_status fbp_inputs_add_all(struct fbp_inputs *inputs, const struct fbp_inputs *more,
                              size_t skip);

void fbp_inputs_clear(struct fbp_inputs *inputs);

/* source_read.c, growing.c: sources */

/** States of input files (device, inode, size and time) when they were opened. */
struct fbp_file_states {
    struct fbp_watched *files;
    size_t n, room;
    fbp_status status; /**< failure to record one of the files */
};

/** Record the state (inode, size, time) of a file in `watch`, a struct fbp_file_states; false: the
 * file does not exist, or recording failed (member `status`). */
bool fbp_file_states_add(void *watch, const char *file);

/** Compare the recorded states of all files with the current ones: FBP_ERR_IO, with a message, for
 * the first file that was replaced, modified or removed. */
fbp_status fbp_file_states_check(const struct fbp_file_states *watch);

void fbp_file_states_clear(struct fbp_file_states *watch);

/** An opened array. The open() function of a format fills it in. */
struct fbp_source {
    char *path;   /**< name of the array as the caller gave it, for messages */
    char *file;   /**< part of `path` that names the file */
    char *member; /**< part of `path` that names the array inside the file; NULL: no such part */
    /** Names of all files that the array is read from: `path`, then its data files. A format that
     * opens another file appends its name. */
    struct fbp_inputs inputs;
    /** states of the files of `inputs` at opening; empty for a growing source */
    struct fbp_file_states watch;
    struct fbp_array_info info;
    int fd;          /**< file that holds the samples */
    uint64_t offset; /**< byte of sample (0,0,0) in fd */
    /** Reads rows [row0, row0 + n_rows) of one slice in the file's sample type and native byte
     * order. NULL: the samples are contiguous in the file from byte `offset` on, or `read_block` is
     * set. */
    fbp_status (*read)(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out);
    /** Reads rows of several slices in one call; used instead of `read` if set. as_float: the
     * samples are converted to float. */
    fbp_status (*read_block)(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, bool as_float, void *out);
    /** Frees `state`; fbp_source_free_state() does only that; NULL: nothing to free. */
    void (*close)(fbp_source *src);
    void *state;
    /** samples in the memory of the calling program; NULL: the samples are elsewhere */
    const void *memory;
    /** Access to the device memory that contains the samples (array/device_memory.h); NULL: they
     * are not in device memory. */
    struct fbp_device_memory *far;
    /** The samples are a compressed stream: reading backward starts again at its first byte. */
    bool in_order;
    bool unpacks; /**< Several threads read faster than one. */
    /** upper bound of the memory that an open source uses without reading threads [bytes] */
    uint64_t held_bytes;
    uint64_t reader_bytes; /**< upper bound of the additional memory per reading thread [bytes] */
    /** The file has no header; its type and size come from the caller or from FILE.json. */
    bool headerless;
    /** The file is still being written: it may be shorter than all samples need. */
    bool growing;
    bool imaginary; /**< The caller requests the imaginary parts of complex samples. */
    bool complex; /**< The samples in the file are complex; the source delivers one part of them. */
    bool list; /**< The caller requests a list of numbers: an array of one dimension is accepted. */
    /** Views that are still being measured, in several files or from a function of the caller:
     * counts the complete views, from the first on, and their bytes. again: also checks that files
     * that were complete before have not changed. NULL: the views are in one file, or all existed
     * at opening. */
    fbp_status (*look)(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes);
    /** thread that waits for views of files that are still being written; NULL: all views exist */
    struct fbp_follow *follow;
    fbp_source *below;         /**< source that this source wraps and reads from; NULL: none */
    bool owns_below;           /**< closing the source also closes `below` */
    enum fbp_type stored_type; /**< type of the samples in `below` */
    uint64_t stored_bytes;     /**< size of all samples that are read from the files [bytes] */
};

void fbp_source_free_state(fbp_source *src);

/** Open one of the files of the source `all`. The file contains n_slices slices of the type and
 * size of `all`, contiguous from byte 0; the caller may then set another offset or byte order.
 * path: malloc'ed name, which the function takes over; NULL: the caller ran out of memory. */
fbp_status fbp_source_open_one(const fbp_source *all, size_t n_slices, char *path,
                               fbp_source **out);

/** Whether the views of a source should be read in order: true for compressed streams (such as
 * compressed MHA or PNG files) and for files that are still being written. */
bool fbp_source_in_order(const fbp_source *src);

/** Read samples like fbp_source_read(), but in the stored sample type, in native byte order. */
fbp_status fbp_source_read_as_is(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, void *out);

/** All samples of a source in memory of the calling program (host or device), [slice][row][column]
 * of type info.type; NULL: the samples are elsewhere. */
const void *fbp_source_samples(const fbp_source *src);

/** Memory that a source uses while n threads read it, without their buffers [bytes]. */
uint64_t fbp_source_bytes(const fbp_source *src, int n);

/** Whether several threads together read a source faster than one thread. */
bool fbp_source_reads_in_parallel(const fbp_source *src);

/** Let a source read its samples from the separate data file `path` that its header names; *size:
 * size of the data file [bytes]. */
fbp_status fbp_source_use_file(fbp_source *src, const char *path, uint64_t *size);

/** If `st` is a failure, put "PATH: its samples: " before its message; returns st. */
fbp_status fbp_fail_samples(const fbp_source *src, fbp_status st);

/** Whether files of a source are still being written (--follow): reading then may have to wait. */
bool fbp_source_grows(const fbp_source *src);

/** Callback during the wait for views, called every few hundredths of a second. n_there: number of
 * complete views. A nonzero result ends the wait with FBP_ERR_CANCELLED. */
typedef int fbp_idle_fn(void *user, size_t n_there);

/**
 * Wait until views [0, n_views) are complete. Returns at once if the source does not grow.
 *
 * idle     may be NULL
 * n_there  number of complete views, from the first on; may be NULL
 * @return FBP_OK, FBP_ERR_IO (the file shrank, was replaced or removed, or did not grow for too
 *         long), FBP_ERR_INVALID (the file contradicts its description), FBP_ERR_CANCELLED by
 *         `idle`
 */
fbp_status fbp_source_await(fbp_source *src, size_t n_views, fbp_idle_fn *idle, void *user,
                            size_t *n_there);

/** Time at which the last view of a source that is still being written was complete, on the clock
 * of fbp_seconds() [s]; 0: not yet complete, or all files existed at opening. */
double fbp_source_complete_at(const fbp_source *src);

/** Create the state of the thread that waits for views of a source that is still being written; the
 * first fbp_source_await() starts the thread. timeout_s: longest time without new data [s], 0: no
 * limit. After a failure *out may be partly initialized; the caller destroys it. */
fbp_status fbp_follow_create(struct fbp_follow **out, const fbp_source *src, double timeout_s);

/** Stop the thread that waits for views of a growing source, and free it; *follow may be NULL. */
void fbp_follow_destroy(struct fbp_follow **follow);

/* layout.c: parts of output files around the samples, and the buffer for converted values */

/** Size of the buffer in which an output's values are converted, written and hashed [bytes].
 * The hash of an output is computed in pieces of this size, which start at multiples of this size
 * from the first byte of the output. The hash of a piece continues the hash of the previous piece.
 */
enum { FBP_WRITE_BUFFER_BYTES = 1 << 20 };

/** Continue the hash h of an output with n more bytes, in pieces of FBP_WRITE_BUFFER_BYTES. */
uint64_t fbp_write_buffer_hash(uint64_t h, const void *data, size_t n);

/** Write buffer of a file that is written sequentially, starting at byte `at`. */
struct fbp_write_buffer {
    int fd;
    const char *path;
    /** function that stores full buffers; NULL: they are written to the file fd */
    fbp_status (*to)(void *user, uint64_t at, const void *data, size_t n);
    void *user;
    uint64_t at, hash;
    size_t n;
    char *buf;
};

fbp_status fbp_write_buffer_open(struct fbp_write_buffer *p, int fd, const char *path, uint64_t at);
fbp_status fbp_write_buffer_put(struct fbp_write_buffer *p, const void *data, size_t n);

/** Append n values to a write buffer, converted to the type and scale of `info`. values: double for
 * FBP_F64, else float. *clipped: increased by the number of values outside the range of the type.
 */
fbp_status fbp_write_buffer_put_values(struct fbp_write_buffer *p,
                                       const struct fbp_array_info *info, const void *values,
                                       size_t n, uint64_t *clipped);

/** Write the bytes that remain in the write buffer; p->hash then is the hash of all bytes. */
fbp_status fbp_write_buffer_flush(struct fbp_write_buffer *p);
void fbp_write_buffer_close(struct fbp_write_buffer *p);

/**
 * Convert values to uint8 or uint16 in native byte order: number = (value - offset) / scale,
 * rounded. Values outside the range of the type are clipped, and NaN becomes 0.
 * @return number of clipped values and NaN
 */
uint64_t fbp_from_float(const struct fbp_array_info *info, const float *in, size_t n, void *out);

/** The parts of an output file besides samples: header, zeros at the end, text file beside it. */
struct fbp_layout {
    /** bytes before the samples, malloc'ed; NULL: no header, or put_header() writes it */
    char *header;
    size_t header_bytes;
    /** Writes a header that is too large for memory; NULL: `header` contains the header. */
    fbp_status (*put_header)(const struct fbp_array_info *info, struct fbp_write_buffer *to);
    size_t tail_bytes; /**< number of zero bytes after the samples */
    char *side_path;   /**< text file beside the samples, such as .mhd; NULL: none */
    char *side_text;   /**< contents of the text file beside the samples, malloc'ed */
    char *data_path;   /**< final name of the file that contains the samples, malloc'ed */
};

/** Write the header of an output to the write buffer `to`. */
fbp_status fbp_layout_put(const struct fbp_layout *layout, const struct fbp_array_info *info,
                          struct fbp_write_buffer *to);

/** Set the file names of an output that is one file, `path`, with header and samples. */
fbp_status fbp_layout_one(struct fbp_layout *out, const char *path);

/** Set the file names of an output with separate header and data files. Header file: `path`, which
 * has the extension `own`; data file: the same name with the extension `samples`. *name: name of
 * the data file without folders, a pointer into *out. */
fbp_status fbp_layout_pair(struct fbp_layout *out, const char *path, const char *own,
                           const char *samples, const char **name);

void fbp_layout_clear(struct fbp_layout *layout);

/** Check the spacing and the origin before a header stores them: FBP_ERR_INVALID if a number is not
 * finite, or a spacing not positive. *given: the spacing is known (not all 0). */
fbp_status fbp_sink_spacing(const char *path, const struct fbp_array_info *info, bool *given);

/*
 * chunks.c: a volume in chunks, and smaller volumes (resolution levels) computed from it
 *
 * Level 0 is the volume. A voxel of level i + 1 is the mean of up to 2 x 2 x 2 voxels of level i;
 * at the end of an axis of odd length, of the voxels that exist. An axis of one voxel is not
 * halved.
 */

/** A volume gets halved resolution levels until all sides of the last one are at most
 * FBP_LEVELS_LEAST voxels and at most four chunks long. */
enum { FBP_LEVELS_MOST = 64, FBP_LEVELS_LEAST = 256, FBP_CHUNK_EDGE = 64 };

struct fbp_level {
    size_t n[3];      /**< voxels x, y, z */
    size_t step[3];   /**< spacing, in voxels of level 0 */
    size_t chunks[3]; /**< number of chunks x, y, z; a layer is the set of chunks with equal z */
};

struct fbp_levels {
    size_t n_levels;
    size_t chunk[3]; /**< voxels per chunk x, y, z; even along axes with several chunks */
    struct fbp_level level[FBP_LEVELS_MOST];
};

/** Compute the resolution levels of a volume of n voxels. edge: longest side of a chunk [voxels],
 * an even number. */
void fbp_levels_make(const size_t n[3], size_t edge, struct fbp_levels *out);

/** A box of samples in memory; step[0], step[1]: distances of its rows and slices [samples]. */
struct fbp_level_box {
    void *data;
    size_t n[3], step[2];
};

/** Halve a box of samples: each result is the mean of up to 2 x 2 x 2 samples, without NaN; NaN if
 * all are NaN. Integers are rounded to nearest, halves up. out->n must be in->n / 2, rounded up. */
void fbp_levels_mean(enum fbp_type type, const struct fbp_level_box *in,
                     const struct fbp_level_box *out);

/* The interface of an array file format. Each file in array/format/ defines one table of it. */

/** Writer of the small text files in an output that is a folder of chunks (sink_chunks.c). */
struct fbp_chunk_format {
    /** Creates name and contents of text file k of the folder, both malloc'ed; *name NULL: no more
     * text files. compression: zlib level of the chunks, 0: not compressed. */
    fbp_status (*text)(const struct fbp_array_info *info, const struct fbp_levels *levels,
                       int compression, size_t k, char **name, char **text);
};

/** Writer of output files that consist of a header and samples. A format has an array of these, one
 * for each set of extensions. */
struct fbp_sink_format {
    const char *extensions; /**< ".tif .tiff"; NULL: end of the list */
    /** Creates header and file names of an output. path: name of the output, "FILE" or
     * "FILE:ARRAY"; compressed_bytes: size of the zlib stream after the header, 0: the samples are
     * not compressed. */
    fbp_status (*layout)(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out);
    /** Creates header and file names of an output that contains more than the array, as `context`
     * describes; called only for sinks of fbp_sink_open_as(). path: name of the file. */
    fbp_status (*layout_with)(const void *context, const char *path,
                              const struct fbp_array_info *info, struct fbp_layout *out);
    bool can_compress;
    bool gzip;         /**< Compressed samples begin with a gzip header instead of a zlib header. */
    bool packs_header; /**< The whole file, header and samples together, is always compressed. */
    bool frames;       /**< The format can store a series of volumes at several times (frames). */
    /** Writer of the text files of a folder of chunk files; NULL: the output is a file. */
    const struct fbp_chunk_format *chunks;
};

/** Function that encodes one slice as a complete image file, and appends its bytes to the buffer
 * `p`. values: double for FBP_F64, else float. */
typedef fbp_status fbp_encode_fn(struct fbp_write_buffer *p, const struct fbp_array_info *slice,
                                 const void *values, uint64_t *clipped);

/** Writer of outputs with one file per slice, such as "out/slice_%04d.tif". If the format cannot
 * write volumes with this extension, "slice.png" without a number is accepted for a single slice.
 */
struct fbp_slice_format {
    const char *extensions;
    fbp_encode_fn *encode;
    /** Refuses slices that the format cannot store. NULL: all are accepted. */
    fbp_status (*check)(const char *path, const struct fbp_array_info *info);
    bool integers_only; /**< uint8 and uint16 */
    bool compressed;    /**< The files are compressed: their sizes are not known in advance. */
};

/** A format of arrays. */
struct fbp_format {
    const char *name;       /**< name such as "mha", in lower case */
    const char *title;      /**< title "MHA", as in docs/formats.md */
    const char *extensions; /**< extensions of files that are read, such as ".mha .mhd"; "": none */
    /** Recognizes a file by its first n bytes (the first 4096, if the file has so many), or by its
     * name. NULL: the format is chosen only by the extension. */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Recognizes a folder that is one array; open() then gets src->fd = -1. NULL: arrays of the
     * format are files. */
    bool (*is_folder)(const char *path);
    /** Reads the header and fills in src; src->path and src->fd (the header file) are already set.
     * NULL: files of the format have no header. */
    fbp_status (*open)(fbp_source *src);
    /** Error message for --follow, if the format does not support files that are still being
     * written; NULL: open() accepts such files. */
    const char *not_growing;
    bool has_members; /**< A file may contain several arrays, named "FILE:ARRAY". */
    const struct fbp_sink_format *files;   /**< writers of one file per volume; NULL: none */
    const struct fbp_slice_format *slices; /**< writer of one file per slice; NULL: none */
};

/* Functions of the formats that need a library (HDF5, TIFF), which a build may lack. The tables of
 * these formats are in array/format/optional.c; without the library, they refuse all files. */

/** Extensions of HDF5 files that fbp reads, and of HDF5 files that it writes. */
#define FBP_HDF5_READ    ".h5 .hdf5 .nxs .nx .hdf"
#define FBP_HDF5_WRITTEN ".h5 .hdf5"

/** Functions in the tables of HDF5 and TIFF (hdf5.c, hdf5_write.c, tiff.c, tiff_write.c). */
fbp_status fbp_hdf5_source(struct fbp_source *src);
fbp_status fbp_hdf5_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out);
fbp_status fbp_tiff_source(struct fbp_source *src);
fbp_status fbp_tiff_layout(const char *path, const struct fbp_array_info *info,
                           uint64_t compressed_bytes, struct fbp_layout *out);
fbp_encode_fn fbp_tiff_encode;

/** Whether a file has HDF5's signature at byte 0 or after a user block (byte 512, 1024 …). */
bool fbp_hdf5_detect(const char *path, const unsigned char *head, size_t n);

/** Fail with FBP_ERR_UNSUPPORTED and "PATH: this build of fbp does not support HDF5 files; …".
 * files: "HDF5 files"; package: Debian package of the library; option: build option, "FBP_HDF5". */
fbp_status fbp_fail_no_library(const char *path, const char *files, const char *package,
                               const char *option);

/* functions that several formats share */

/* A series of volumes at several times is one array: n[2] is the number of slices of all volumes
 * together, one volume after another. Headers of files state four sizes instead. */

/** Number of volumes (frames) of a series; 1 for a single volume. */
static inline size_t fbp_array_frames(const struct fbp_array_info *info)
{
    return info->time_points > 1 ? info->time_points : 1;
}

/** Slices per volume. */
static inline size_t fbp_frame_slices(const struct fbp_array_info *info)
{
    return info->n[2] / fbp_array_frames(info);
}

/** Change the properties of a volume with n[2] slices to those of `frames` such volumes. */
static inline fbp_status fbp_frames_take(const char *path, struct fbp_array_info *info,
                                         uint64_t frames)
{
    if (frames > SIZE_MAX || __builtin_mul_overflow(info->n[2], (size_t)frames, &info->n[2]))
        return FBP_INVALID("%s: the header gives %llu volumes, which is impossible; the header is "
                           "damaged, copy the file again",
                           path, (unsigned long long)frames);
    info->time_points = frames > 1 ? (size_t)frames : 0;
    return FBP_OK;
}

/**
 * Set spacing and origin of src->info from the vectors between neighbouring samples along each
 * index, in mm (values.c).
 *
 * step[n][3], n = 2 or 3; origin[3]: centre of element (0,0,0). The axes of the grid are kept: the
 * spacing is the length of the vectors, and the origin is expressed along the axes. A file that is
 * rotated or mirrored in its space becomes the volume in the order of its indices.
 *
 * @return FBP_ERR_INVALID for vectors of length 0, FBP_ERR_UNSUPPORTED for axes that are not
 *         orthogonal
 */
fbp_status fbp_source_take_axes(struct fbp_source *src, size_t n, const double (*step)[3],
                                const double origin[3]);

/** Set the spacing and origin of a view: pixels of this pitch [mm] on a panel that is centred on
 * the origin. src->info.n: set by the caller. */
fbp_status fbp_source_take_pitch(struct fbp_source *src, const double pitch_mm[2]);

/** Make a source of complex samples deliver their real parts, or imaginary parts if src->imaginary
 * is set (values.c). Real and imaginary parts alternate in the file; info.type must be the type of
 * one part. */
void fbp_source_take_complex_part(struct fbp_source *src);

/** Greatest number of bytes that one byte of a deflate stream expands to: 258 bytes per 2 bits. */
enum { FBP_DEFLATE_AT_MOST = 1032 };

/** Read the samples of src, `bytes` in all, from a zlib or gzip stream that starts at src->offset
 *  in src->fd; its first `skip` bytes are not samples (inflate.c). stated: bytes of the stream
 *  according to a header; 0: not stated. FBP_ERR_INVALID if the file cannot contain the stream,
 * FBP_ERR_UNSUPPORTED if the source grows. */
fbp_status fbp_inflate_open(struct fbp_source *src, uint64_t stated, uint64_t skip, uint64_t bytes);

/** Whether these bytes begin a gzip file. */
bool fbp_is_gzip(const unsigned char *head, size_t n);

/** Decompress the beginning head[n] of a zlib or gzip stream into out[max]; *got: number of
 * decompressed bytes, 0 if head[n] is no such stream. */
fbp_status fbp_inflate_head(const unsigned char *head, size_t n, unsigned char *out, size_t max,
                            size_t *got);

/** malloc'ed line of JSON, {"fbp": 1, "type": …, "size": …, …}, which stores row order, unit,
 * scale, spacing, origin and history in files whose format has no fields for them; NULL when out of
 * memory (describe.c). */
char *fbp_describe(const struct fbp_array_info *info);

/**
 * Parse a line of fbp_describe() from text[n] into *info, if the line is valid and has the type of
 * *info (type NONE: type and size are filled in, too).
 *
 * sized  the line must have the size of *info; otherwise a slice of a larger volume is accepted
 * ours   *ours: the text is such a line; false: *info is unchanged
 * @return FBP_ERR_NOMEM
 */
fbp_status fbp_parse_description(const char *text, size_t n, bool sized,
                                 struct fbp_array_info *info, bool *ours);

/** Parse the description of an array (a line of fbp_describe()) in PATH.json. *ours: the file
 * contains a valid one for the type and size of *info; false: *info is unchanged. A missing file,
 * one above 4 KiB, or one that is not regular is ignored. FBP_ERR_IO: the file cannot be read. */
fbp_status fbp_parse_description_beside(const char *path, struct fbp_array_info *info, bool *ours);

/** Describe an output array in a text file PATH.json beside it: name and text of that file are
 * stored in *out. */
fbp_status fbp_describe_beside(const char *path, const struct fbp_array_info *info,
                               struct fbp_layout *out);

/**
 * Write a sentence about missing chunks to info->missing: `n` of `all` chunks; `what`: words after
 * these numbers, such as "chunks are missing". lacks: [slices] 1 for each slice with a missing
 * chunk; NULL: unknown
 */
void fbp_describe_missing(const char *path, size_t n, size_t all, const char *what,
                          const unsigned char *lacks, struct fbp_array_info *info);

/** Cache of decoded chunks for readers of Zarr and HDF5 (chunks.c): neighbouring rows and slices
 * often lie in the same chunks. */
struct fbp_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fbp_cached *slots;
    size_t n_slots, chunk_bytes;
    uint64_t clock;
};

/** Greatest number of slots of the cache of chunks, which is searched linearly. */
enum { FBP_CACHE_MOST = 1024 };

/** Initialize a cache without slots. */
void fbp_cache_open(struct fbp_cache *cache);

/** Allocate the slots of a cache of chunks. n_slots: at least the number of threads that use chunks
 * at the same time, or the number of all chunks. */
fbp_status fbp_cache_make(struct fbp_cache *cache, size_t n_slots, size_t chunk_bytes);
void fbp_cache_close(struct fbp_cache *cache);

/** Function that reads and decodes chunk k into `out` [chunk_bytes]. */
typedef fbp_status fbp_cache_load_fn(void *user, size_t k, void *out);

/** Get chunk k from the cache. The first thread that needs the chunk decodes it by load(); other
 * threads wait for that. After each successful call, the caller calls fbp_cache_give_back(). */
fbp_status fbp_cache_take(struct fbp_cache *cache, size_t k, fbp_cache_load_fn *load, void *user,
                          struct fbp_cached **out);
void fbp_cache_give_back(struct fbp_cache *c, struct fbp_cached *s);
const void *fbp_cache_data(const struct fbp_cached *s);

/**
 * Check that no file of a source has changed since the source was opened: the same inode, size and
 * time. Call this after everything has been read, before results are used. fbp_plan_run() makes
 * this check itself.
 * @return FBP_OK, or FBP_ERR_IO with a message that contains the file's name.
 */
fbp_status fbp_source_unchanged(fbp_source *src);

#endif /* FBP_SRC_ARRAY_FILE_FORMAT_H */
