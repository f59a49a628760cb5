/** @file format.h  Formats of arrays, opened sources, and what formats have in common (internal).
 *
 * A format is one struct fbp_format in array/format/.  Its reader turns a header into
 * fbp_array_info and the place of the samples; if they lie in one uncompressed run,
 * array/file/source_read.c does the rest, else the format has its own read().  Its writer gives the
 * bytes before the samples, or encodes one slice as a whole file.
 */
#ifndef FBP_SRC_ARRAY_FILE_FORMAT_H
#define FBP_SRC_ARRAY_FILE_FORMAT_H

#include "base/base.h"

#include "fbp/array.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- names of inputs (paths.c) */

/** The parts of "views/%04d.mha 1 360": pieces of the text, their lengths, the numbers. */
struct fbp_pattern {
    const char *prefix, *suffix;
    int n_prefix, n_suffix, width;
    unsigned long long first, last;
};

/** Find the last %d or %0Nd in text[n].  Fills in all but the numbers. */
bool fbp_pattern_place(const char *text, size_t n, struct fbp_pattern *out);

/** malloc'ed name with this number in it; NULL when out of memory. */
char *fbp_pattern_name(const struct fbp_pattern *p, unsigned long long number);

/** Does a file name, without folders, fit the pattern?  *number: the one in it. */
bool fbp_pattern_fits(const struct fbp_pattern *p, const char *name, unsigned long long *number);

/** Parse a pattern with its two numbers. */
bool fbp_pattern_parse(const char *path, struct fbp_pattern *out);

/** "?sinogram", behind a name: two dimensions are [view][column]. */
extern const char FBP_SINOGRAM[];

/**
 * Split the name of an input, such as "scan.h5:/exchange/data".  An existing file of the whole name
 * wins; else the last ':' that follows the name of an existing file; else there is no member.
 * FBP_SINOGRAM behind the name of a file is a member, too.
 *
 * file    malloc'ed
 * member  malloc'ed, or NULL
 * @return FBP_OK or FBP_ERR_NOMEM.
 */
fbp_status fbp_member_split(const char *path, char **file, char **member);

/** Length of the file's name in an output's name, which one of `extensions` ends: of "volume.h5" in
 *  "volume.h5:/name", or of the whole. */
size_t fbp_member_output(const char *path, const char *extensions);

/** Names of inputs in the form in which sources are opened: files, patterns, folders, "FILE:ARRAY".
 */
struct fbp_inputs {
    char **names;
    size_t n, room;
};

/** Append a copy of `name`, unless it is the last one already; NULL is nothing. */
fbp_status fbp_inputs_add(struct fbp_inputs *inputs, const char *name);

/** Append copies of all but the first `skip`. */
fbp_status fbp_inputs_add_all(struct fbp_inputs *inputs, const struct fbp_inputs *more,
                              size_t skip);

void fbp_inputs_clear(struct fbp_inputs *inputs);

/* ---- sources (source_read.c, growing.c) */

/** Files by name, with device, inode, size and time when reading began. */
struct fbp_file_states {
    struct fbp_watched *files;
    size_t n, room;
    fbp_status status; /**< failure to note one of them */
};

/** Note a file, as a fbp_stack_fn; false: it does not exist, or failed (`status`). */
bool fbp_file_states_add(void *watch, const char *file);

/** FBP_ERR_IO, with a message that names the first file that was replaced, written to or removed.
 */
fbp_status fbp_file_states_check(const struct fbp_file_states *watch);

void fbp_file_states_clear(struct fbp_file_states *watch);

/** An opened array.  Formats fill this in. */
struct fbp_source {
    char *path;   /**< name as given, for messages */
    char *file;   /**< part of it that names the file */
    char *member; /**< part of it that names the array in the file; NULL: none */
    /** Names of all files that it is read from: `path`, then those of samples.  A format that opens
     *  another file adds its name. */
    struct fbp_inputs inputs;
    struct fbp_file_states
        watch; /**< states of the files of `inputs`; empty for a growing source */
    struct fbp_array_info info;
    int fd;          /**< file that holds the samples */
    uint64_t offset; /**< byte of sample (0,0,0) in fd */
    /** Reads whole rows in file type and native byte order; NULL: one run at `offset`. */
    fbp_status (*read)(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out);
    /** Replaces `read` if several rows and slices are read faster at once; `as_float` also converts
     *  them. */
    fbp_status (*read_block)(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, bool as_float, void *out);
    void (*close)(fbp_source *src); /**< frees `state`; NULL: nothing to free */
    void *state;
    const void *memory;            /**< samples in the caller's memory; NULL */
    struct fbp_device_memory *far; /**< device that owns `memory` (array/device_memory.h); NULL: the host */
    bool in_order;                 /**< compressed stream: reading backwards starts anew */
    bool unpacks;                  /**< reading computes: worth several threads */
    uint64_t held_bytes;           /**< upper bound of the memory that it holds */
    uint64_t reader_bytes;         /**< the same per thread that reads */
    bool headerless; /**< described by the caller; other bytes may precede the samples */
    bool growing;    /**< still being written: the file may end before the samples do */
    bool imaginary;  /**< imaginary parts of complex samples are requested */
    bool complex;    /**< the samples are complex: one part of them is read */
    bool list;       /**< numbers are requested, not an array: one dimension is enough */
    /** Growing source of several files: number of complete views, from the first on, and bytes of
     *  all files.  `again`: all files are examined anew.  NULL: one file. */
    fbp_status (*look)(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes);
    struct fbp_follow *follow; /**< thread that waits for views; NULL: all are there */
    fbp_source *below;         /**< source that it reads from (scan/file/reduce.c); NULL: files */
    bool owns_below;           /**< `below` is closed with it */
    enum fbp_type stored_type; /**< type of the samples in `below` */
    uint64_t stored_bytes;     /**< bytes of all samples of `below` that are read */
};

/** Must it be read in order?  Compressed and growing sources must. */
bool fbp_source_in_order(const fbp_source *src);

/** fbp_source_read() without conversion: the source's own type, in native byte order. */
fbp_status fbp_source_read_as_is(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, void *out);

/** All samples in the caller's memory, [slice][row][column] of info.type; NULL: in a file. */
const void *fbp_source_samples(const fbp_source *src);

/** Memory that a source takes while `n` threads read it, beside their buffers. */
uint64_t fbp_source_bytes(const fbp_source *src, int n);

/** Do several threads read it faster? */
bool fbp_source_reads_in_parallel(const fbp_source *src);

/** Continue with another file: the samples are in `path`, with its size in *size. */
fbp_status fbp_source_use_file(fbp_source *src, const char *path, uint64_t *size);

/** Put "PATH: its samples: " before the message of a failure; returns st. */
fbp_status fbp_fail_samples(const fbp_source *src, fbp_status st);

/** Is it still being written, and may reading have to wait? */
bool fbp_source_grows(const fbp_source *src);

/** Called every few hundredths of a second while a view is awaited; nonzero: stop waiting. */
typedef int fbp_idle_fn(void *user, size_t n_there);

/**
 * Wait until views [0, n_views) are complete.  Returns at once if nothing grows.
 *
 * idle     may be NULL
 * n_there  number of complete views, from the first on; may be NULL
 * @return FBP_OK, FBP_ERR_IO (the file shrank, was replaced or removed, or did not grow for too
 *         long), FBP_ERR_INVALID (it does not fit its description), FBP_ERR_CANCELLED by `idle`.
 */
fbp_status fbp_source_await(fbp_source *src, size_t n_views, fbp_idle_fn *idle, void *user,
                            size_t *n_there);

/** Time of the last view's completion, on the clock of fbp_seconds(); 0: incomplete, or nothing
 *  grows. */
double fbp_source_complete_at(const fbp_source *src);

/** Begin to follow src, which is opened as growing; *out may be left half made. */
fbp_status fbp_follow_create(struct fbp_follow **out, const fbp_source *src, double timeout_s);

/** Stop following; *follow may be NULL. */
void fbp_follow_destroy(struct fbp_follow **follow);

/* ---- what sinks write (layout.c, chunks.c) */

/** Values as a sink stores them: converted, written and hashed in pieces of this size.  A hash is
 *  chained over pieces from the start. */
enum { FBP_WRITE_BUFFER_BYTES = 1 << 20 };

/** Hash of n bytes, chained over pieces. */
uint64_t fbp_write_buffer_hash(uint64_t h, const void *data, size_t n);

/** Buffer of a file that is written from `at` on. */
struct fbp_write_buffer {
    int fd;
    const char *path;
    /** Replaces fd; NULL: none. */
    fbp_status (*to)(void *user, uint64_t at, const void *data, size_t n);
    void *user;
    uint64_t at, hash;
    size_t n;
    char *buf;
};

fbp_status fbp_write_buffer_open(struct fbp_write_buffer *p, int fd, const char *path, uint64_t at);
fbp_status fbp_write_buffer_put(struct fbp_write_buffer *p, const void *data, size_t n);

/** Put n values as info->type, by its scale; *clipped grows.  values: double for FBP_F64, else
 *  float. */
fbp_status fbp_write_buffer_put_values(struct fbp_write_buffer *p,
                                       const struct fbp_array_info *info, const void *values,
                                       size_t n, uint64_t *clipped);

/** Write the rest: then `hash` is that of all bytes. */
fbp_status fbp_write_buffer_flush(struct fbp_write_buffer *p);
void fbp_write_buffer_close(struct fbp_write_buffer *p);

/**
 * Convert values to uint8 or uint16 in native byte order: number = (value - offset) / scale,
 * rounded.  Values beyond either end become the end, and NaN 0: returns the number of such values.
 */
uint64_t fbp_from_float(const struct fbp_array_info *info, const float *in, size_t n, void *out);

/** Layout of a file that a sink writes around the samples. */
struct fbp_layout {
    char *header; /**< bytes before the samples, malloc'ed; may be empty */
    size_t header_bytes;
    /** Writes these bytes if they are too many to be held; NULL: they are `header`. */
    fbp_status (*put_header)(const struct fbp_array_info *info, struct fbp_write_buffer *to);
    size_t tail_bytes; /**< number of zeros behind the samples */
    char *side_path;   /**< a second, small text file (MHD header), malloc'ed; NULL: none */
    char *side_text;   /**< its text, malloc'ed */
    char *data_path;   /**< final name of the file with the samples; malloc'ed */
};

/** Write the header. */
fbp_status fbp_layout_put(const struct fbp_layout *layout, const struct fbp_array_info *info,
                          struct fbp_write_buffer *to);

/** Header and samples are one file at `path`. */
fbp_status fbp_layout_one(struct fbp_layout *out, const char *path);

/** The header is a file beside the samples: out->side_path is `path`, which ends with the extension
 *  `own`; the name of the samples ends with `samples` instead.  *name: their file's name without
 *  folders, within *out. */
fbp_status fbp_layout_pair(struct fbp_layout *out, const char *path, const char *own,
                           const char *samples, const char **name);

void fbp_layout_clear(struct fbp_layout *layout);

/** Check spacings and origins that a header is to store.  *given: there are any. */
fbp_status fbp_sink_spacing(const char *path, const struct fbp_array_info *info, bool *given);

/* A volume in chunks, and the smaller volumes (levels) made of it.  Level 0 is the volume.  A voxel
 * of the next level is the mean of up to 2 x 2 x 2 of the level before: at the end of an odd axis
 * of the existing ones.  An axis of one voxel stays as it is. */

/** Sides are halved until none is longer than FBP_LEVELS_LEAST, or than four chunks. */
enum { FBP_LEVELS_MOST = 64, FBP_LEVELS_LEAST = 256, FBP_CHUNK_EDGE = 64 };

struct fbp_level {
    size_t n[3];      /**< voxels x, y, z */
    size_t step[3];   /**< spacing in voxels of level 0 */
    size_t chunks[3]; /**< number of chunks; those along z are layers */
};

struct fbp_levels {
    size_t n_levels;
    size_t chunk[3]; /**< voxels of a chunk at every level; even for an axis of several chunks */
    struct fbp_level level[FBP_LEVELS_MOST];
};

/** edge: the longest side of a chunk, an even number. */
void fbp_levels_make(const size_t n[3], size_t edge, struct fbp_levels *out);

/** A box of samples in memory: `step` in samples from row to row, and from slice to slice. */
struct fbp_level_box {
    void *data;
    size_t n[3], step[2];
};

/** Means of boxes of up to 2 x 2 x 2, without NaN; NaN if all are.  Integers are rounded to the
 *  nearest, halves up.  out->n: halves of in->n, rounded up. */
void fbp_levels_mean(enum fbp_type type, const struct fbp_level_box *in,
                     const struct fbp_level_box *out);

/* ---- formats */

/** Small text files in a folder of chunks (array/chunked.h). */
struct fbp_chunk_format {
    /** Name in the folder and text of file k, malloc'ed; *name NULL: there are no more.
     *  compression: zlib level of the chunks; 0: they are plain. */
    fbp_status (*text)(const struct fbp_array_info *info, const struct fbp_levels *levels,
                       int compression, size_t k, char **name, char **text);
};

/** Writer of files of header and samples; several of a format in one list. */
struct fbp_sink_format {
    const char *extensions; /**< ".tif .tiff"; NULL ends a list */
    /** path: as given, "FILE" or "FILE:ARRAY"; `compressed_bytes`: 0 for plain samples, else the
     *  size of the zlib stream that follows. */
    fbp_status (*layout)(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out);
    /** The same for a file with further contents, described by `context`: fbp_sink_open_as() only.
     *  path: the file. */
    fbp_status (*layout_with)(const void *context, const char *path,
                              const struct fbp_array_info *info, struct fbp_layout *out);
    bool can_compress;
    bool gzip;         /**< a compressed stream has gzip's frame, not zlib's */
    bool packs_header; /**< always compressed, the header with the samples */
    bool frames;       /**< a series of volumes can be stored */
    /** The output is a folder of chunks; its layout has no header.  NULL: a file. */
    const struct fbp_chunk_format *chunks;
};

/** Encode one slice as a file through `p`.  values: double for FBP_F64, else float. */
typedef fbp_status fbp_encode_fn(struct fbp_write_buffer *p, const struct fbp_array_info *slice,
                                 const void *values, uint64_t *clipped);

/** Writer of stacks, one file per slice: "out/slice_%04d.tif".  If no fbp_sink_format of the format
 *  has such an extension, a name without a number is a file of one slice, too. */
struct fbp_slice_format {
    const char *extensions;
    fbp_encode_fn *encode;
    /** Refuses what the format cannot store; NULL: nothing.  info->type is set. */
    fbp_status (*check)(const char *path, const struct fbp_array_info *info);
    bool integers_only; /**< uint8 and uint16 */
    bool compressed;    /**< sizes are unknown in advance; encoding is worth several threads */
};

/** A format of arrays. */
struct fbp_format {
    const char *name;       /**< "mha", the beginning of fbp_array_info.format, in lower case */
    const char *title;      /**< "MHA", as in docs/formats.md */
    const char *extensions; /**< extensions of files that are read, ".mha .mhd"; "": none */
    /** Recognizes a file by its first n bytes (at most 4096), or by its name. */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Recognizes a folder; src->fd is -1 then.  NULL: arrays are files. */
    bool (*is_folder)(const char *path);
    /** Fills in src (path and fd are set, fd at the header file).  NULL, like `detect`: files that
     *  need a description to be read. */
    fbp_status (*open)(fbp_source *src);
    bool has_members;                      /**< a file holds several arrays, "FILE:ARRAY" */
    const struct fbp_sink_format *files;   /**< writers as one file; NULL: none */
    const struct fbp_slice_format *slices; /**< writer as one file per slice; NULL: none */
};

/* Formats that need a library, which a build may lack (array/format/optional.c). */

/** Extensions that are read, and those that are written. */
#define FBP_HDF5_READ    ".h5 .hdf5 .nxs .nx .hdf"
#define FBP_HDF5_WRITTEN ".h5 .hdf5"
#define FBP_TIFF_NAMES   ".tif .tiff"

/** Does a file start like HDF5, perhaps behind a user block? */
bool fbp_hdf5_detect(const char *path, const unsigned char *head, size_t n);

/** Does a file start like TIFF or BigTIFF? */
bool fbp_tiff_detect(const char *path, const unsigned char *head, size_t n);

/** Fail with "PATH: HDF5 files are not supported by this build …": FBP_ERR_UNSUPPORTED.  files:
 * "HDF5 files"; package: Debian's name of the library; option: of the build, "FBP_HDF5". */
fbp_status fbp_fail_no_library(const char *path, const char *files, const char *package,
                               const char *option);

/* ---- what several formats share */

/* A series of volumes is an array of n[2] / frames slices per volume, the first volume's first.
 * Headers of formats store four sizes. */

/** Number of volumes of an array: 1 if it is no series. */
static inline size_t fbp_array_frames(const struct fbp_array_info *info)
{
    return info->frames > 1 ? info->frames : 1;
}

/** Slices per volume. */
static inline size_t fbp_frame_slices(const struct fbp_array_info *info)
{
    return info->n[2] / fbp_array_frames(info);
}

/** Turn an array of n[2] slices into a series of `frames` such volumes. */
static inline fbp_status fbp_frames_take(const char *path, struct fbp_array_info *info,
                                         uint64_t frames)
{
    if (frames > SIZE_MAX || __builtin_mul_overflow(info->n[2], (size_t)frames, &info->n[2]))
        return fbp_fail(FBP_ERR_INVALID,
                        "%s: %llu volumes are more than can be counted: the header is damaged",
                        path, (unsigned long long)frames);
    info->frames = frames > 1 ? (size_t)frames : 0;
    return FBP_OK;
}

/**
 * Set spacing and origin of src->info from the steps between neighbours along each index, in mm
 * (values.c).
 *
 * step[n][3], n = 2 or 3; origin[3]: centre of element (0,0,0).  The grid's own axes are kept:
 * spacing is the steps' length, and the origin is expressed along the axes.  A file that is rotated
 * or mirrored in its space is the volume that its indices run through.
 *
 * @return FBP_ERR_INVALID for steps without a length, FBP_ERR_UNSUPPORTED for axes that are not
 *         orthogonal.
 */
fbp_status fbp_source_take_axes(struct fbp_source *src, size_t n, const double (*step)[3],
                                const double origin[3]);

/** Make a source of complex numbers one of their real parts, or, with src->imaginary, of their
 *  imaginary parts: info.type is the type of a part.  Parts alternate in the file (values.c). */
void fbp_source_take_complex_part(struct fbp_source *src);

/** Largest number of bytes that deflate makes of one: 258 of two bits. */
enum { FBP_DEFLATE_AT_MOST = 1032 };

/** Read the samples of src, `bytes` in all, from a stream in zlib's or gzip's frame that starts at
 *  src->offset in src->fd; its first `skip` bytes are not samples (inflate.c). */
fbp_status fbp_inflate_open(struct fbp_source *src, uint64_t skip, uint64_t bytes);

/** Check that a file of `size` bytes can hold, from src->offset on, a stream of `stated` bytes (0:
 *  not stated) that holds `skip` + `bytes`. */
fbp_status fbp_inflate_check(const struct fbp_source *src, uint64_t stated, uint64_t size,
                             uint64_t skip, uint64_t bytes);

/** Do these bytes start a gzip file? */
bool fbp_is_gzip(const unsigned char *head, size_t n);

/** Inflate the beginning of a stream from head[n]: *got <= max bytes; 0 if it is no stream. */
fbp_status fbp_inflate_head(const unsigned char *head, size_t n, unsigned char *out, size_t max,
                            size_t *got);

/** malloc'ed line of JSON, {"fbp": 1, "type": …, "size": …, …}, for formats without a place for row
 *  order, unit, scale, spacing and origin; NULL when out of memory (describe.c). */
char *fbp_describe(const struct fbp_array_info *info);

/**
 * Parse such a line from text[n] into *info, if all of it is valid and it has the type of *info
 * (NONE: type and size are filled in, too).
 *
 * sized: its size must be that of *info; else a slice of a larger volume is accepted
 * ours: it is such a line; if not, *info is unchanged
 * @return FBP_ERR_NOMEM
 */
fbp_status fbp_parse_description(const char *text, size_t n, bool sized,
                                 struct fbp_array_info *info, bool *ours);

/** The same from PATH.json, if there is such a file.  FBP_ERR_IO: it cannot be read. */
fbp_status fbp_parse_description_beside(const char *path, struct fbp_array_info *info, bool *ours);

/** Put name and text of PATH.json into *out. */
fbp_status fbp_describe_beside(const char *path, const struct fbp_array_info *info,
                               struct fbp_layout *out);

/**
 * Put a sentence into info->missing: `n` of `all` chunks are missing (`what`: "chunks are
 * missing"). lacks: 1 for each slice of the array with a missing chunk; NULL: unknown
 */
void fbp_describe_missing(const char *path, size_t n, size_t all, const char *what,
                          const unsigned char *lacks, struct fbp_array_info *info);

/** Cache of decoded chunks: neighbouring rows and slices are often in the same ones (chunks.c). */
struct fbp_cache {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct fbp_cached *slots;
    size_t n_slots, chunk_bytes;
    uint64_t clock;
};

/** Greatest number of slots, which are searched one by one. */
enum { FBP_CACHE_MOST = 1024 };

/** Initialize without slots. */
void fbp_cache_open(struct fbp_cache *cache);

/** n_slots: at least one per thread that holds a chunk at the same time, or one per chunk. */
fbp_status fbp_cache_make(struct fbp_cache *cache, size_t n_slots, size_t chunk_bytes);
void fbp_cache_close(struct fbp_cache *cache);

/** Decode chunk k. */
typedef fbp_status fbp_cache_load_fn(void *user, size_t k, void *out);

/** Take chunk k, which the first thread that needs it loads; to be given back. */
fbp_status fbp_cache_take(struct fbp_cache *cache, size_t k, fbp_cache_load_fn *load, void *user,
                          struct fbp_cached **out);
void fbp_cache_give_back(struct fbp_cache *c, struct fbp_cached *s);
const void *fbp_cache_data(const struct fbp_cached *s);

#endif /* FBP_SRC_ARRAY_FILE_FORMAT_H */
