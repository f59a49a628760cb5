/** @file format.h  What an array format is: how its files are known, read and written (internal).
 *
 * A format is one struct fbp_format, in a file or folder of its own in array/format/.  Its reader
 * turns a header into fbp_array_info and a place of the samples; if they lie in one uncompressed
 * run, array/file/source_read.c does the rest, else the format brings its own read().  Its writer
 * gives the bytes before the samples, or encodes one slice as a whole file.
 */
#ifndef FBP_SRC_FORMAT_H
#define FBP_SRC_FORMAT_H

#include "fbp/array.h"

#include "array/file/inputs.h"
#include "array/file/levels.h"
#include "array/file/piece.h"
#include "array/file/watch.h"
#include "base/base.h"

/** An opened array.  Formats fill this in. */
struct fbp_source {
    char *path;   /**< as given, for messages */
    char *file;   /**< the part of it that names the file (array/file/member.h) */
    char *member; /**< and the array inside it; NULL: none */
    /** What it is read from: `path`, then files that it leads to, of samples above all.  A format
     *  that opens another file adds its name. */
    struct fbp_inputs inputs;
    struct fbp_watch watch; /**< files of `inputs`, as they were; of a growing source none */
    struct fbp_array_info info;
    int fd;          /**< file that holds the samples */
    uint64_t offset; /**< of sample (0,0,0) in fd */
    /** Samples in file type, native byte order, of whole rows; NULL: one run at `offset`. */
    fbp_status (*read)(fbp_source *src, size_t slice, size_t row0, size_t n_rows, void *out);
    /** In place of read, where several rows and slices are read faster at once: `as_float` converts
     *  them, too. */
    fbp_status (*read_block)(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                             size_t n_rows, bool as_float, void *out);
    void (*close)(fbp_source *src); /**< frees `state`; NULL = nothing to free */
    void *state;
    const void *memory;    /**< the samples, where they lie in the caller's memory; NULL */
    struct fbp_far *far;   /**< the device whose memory that is (array/far.h); NULL: the host's */
    bool in_order;         /**< reading backwards starts anew: a compressed stream */
    bool unpacks;          /**< reading takes a processor: worth several threads */
    uint64_t held_bytes;   /**< memory that it takes, beside what is read into: at most */
    uint64_t reader_bytes; /**< and so for each thread that reads */
    bool headerless;       /**< a description tells how it is read; other bytes may stand before */
    bool growing;          /**< the file may end before the samples do; still being written */
    bool imaginary;        /**< of complex samples these parts are wanted, not the real ones */
    bool complex;          /**< the samples are complex: one part of them is read */
    bool list;             /**< numbers are wanted, not an array: one dimension will do */
    /** Of a growing source of several files: views that are complete, from the first on, and bytes
     *  of all that is there.  `again`: all of them are looked at anew.  NULL: one file. */
    fbp_status (*look)(fbp_source *src, bool again, size_t *n_views, uint64_t *bytes);
    struct fbp_follow
        *follow;       /**< who waits for views (array/file/growing.h); NULL: all are there */
    fbp_source *below; /**< what it reads from, of another's (scan/reduce.h); NULL: files */
    bool owns_below;   /**< that is closed with it */
    enum fbp_type stored_type; /**< of a source on another: type there, and bytes that all of it */
    uint64_t stored_bytes;     /**< is read from */
};

/** Is this source to be read in order?  Compressed ones are, and those that are still growing. */
bool fbp_source_in_order(const fbp_source *src);

/** As fbp_source_read(), but samples of the source's own type, in this machine's byte order. */
fbp_status fbp_source_read_as_is(fbp_source *src, size_t slice0, size_t n_slices, size_t row0,
                                 size_t n_rows, void *out);

/** All samples in the caller's memory, [slice][row][column] of info.type; NULL: in a file. */
const void *fbp_source_samples(const fbp_source *src);

/** Memory that a source takes while `n` threads read it, beside what they read into. */
uint64_t fbp_source_bytes(const fbp_source *src, int n);

/** Would several threads read it faster?  Not one in order, and none that is only copied. */
bool fbp_source_unpacks(const fbp_source *src);

/** Layout of a file that a sink writes around the samples. */
struct fbp_layout {
    char *header; /**< bytes before the samples, malloc'ed; may be empty */
    size_t header_bytes;
    /** All these bytes, where they are too many to be held; NULL: they are `header`. */
    fbp_status (*put_header)(const struct fbp_array_info *info, struct fbp_piece *to);
    size_t tail_bytes; /**< zeros behind the samples */
    char *side_path;   /**< a second, small text file (MHD header), or NULL; malloc'ed */
    char *side_text;
    char *data_path; /**< final name of the file with the samples; malloc'ed */
};

/** The header, from where `to` is. */
fbp_status fbp_layout_put(const struct fbp_layout *layout, const struct fbp_array_info *info,
                          struct fbp_piece *to);

/** A file of header and samples: it is all at `path`. */
fbp_status fbp_layout_one(struct fbp_layout *out, const char *path);

/** A header beside its samples: out->side_path is `path`, which ends with the extension `own`; the
 * samples' name ends with `samples` instead.  *name: of their file, without folders; within *out.
 */
fbp_status fbp_layout_pair(struct fbp_layout *out, const char *path, const char *own,
                           const char *samples, const char **name);

void fbp_layout_clear(struct fbp_layout *layout);

/** What a folder of chunks has beside them (array/chunked.h): small text files. */
struct fbp_chunk_format {
    /** The name in the folder and the text of file k, malloc'ed; *name NULL: there are no more.
     *  compression: the level by which chunks are streams of zlib; 0: they are plain. */
    fbp_status (*text)(const struct fbp_array_info *info, const struct fbp_levels *levels,
                       int compression, size_t k, char **name, char **text);
};

/** How files of header and samples are written; several of a format in one list. */
struct fbp_sink_format {
    const char *extensions; /**< ".tif .tiff"; NULL ends a list */
    /** path: as given, "FILE" or "FILE:ARRAY"; `compressed_bytes`: 0 for plain samples, else the
     * size of the zlib stream that follows. */
    fbp_status (*layout)(const char *path, const struct fbp_array_info *info,
                         uint64_t compressed_bytes, struct fbp_layout *out);
    /** The same of a file that holds more than the array, which `context` knows: fbp_sink_open_as()
     *  alone.  path: the file. */
    fbp_status (*layout_with)(const void *context, const char *path,
                              const struct fbp_array_info *info, struct fbp_layout *out);
    bool can_compress;
    bool gzip;         /**< a compressed stream has gzip's frame, not zlib's */
    bool packs_header; /**< always compressed, the header with the samples */
    bool frames;       /**< a series of volumes has a place (array/file/frames.h) */
    /** The output is a folder of chunks; its layout has no header.  NULL: a file. */
    const struct fbp_chunk_format *chunks;
};

/** Can a header tell these spacings and origins?  *given: there are any.  FBP_ERR_INVALID if not.
 */
fbp_status fbp_sink_spacing(const char *path, const struct fbp_array_info *info, bool *given);

/** One slice as a file: all of it goes through `p`.  values: double for FBP_F64, else float. */
typedef fbp_status fbp_encode_fn(struct fbp_piece *p, const struct fbp_array_info *slice,
                                 const void *values, uint64_t *clipped);

/** How stacks are written, a file a slice: "out/slice_%04d.tif".  Where no fbp_sink_format of the
 *  format has such an extension, a name without a number is a file of one slice, too. */
struct fbp_slice_format {
    const char *extensions;
    fbp_encode_fn *encode;
    /** What the format has no place for; NULL: there is nothing.  info->type is set. */
    fbp_status (*check)(const char *path, const struct fbp_array_info *info);
    bool integers_only; /**< uint8 and uint16 */
    bool compressed;    /**< sizes are not known before, and encoding is work for several threads */
};

/** A format of arrays. */
struct fbp_format {
    const char *name;       /**< "mha", as fbp_array_info.format begins, in lower case */
    const char *title;      /**< "MHA", as people write it, and docs/formats.md */
    const char *extensions; /**< of files that are read, ".mha .mhd"; "": none */
    /** Does the file start like one of ours?  head: its first n bytes (at most 4096). */
    bool (*detect)(const char *path, const unsigned char *head, size_t n);
    /** Is this folder an array of ours?  src->fd is -1 then.  NULL: arrays are files. */
    bool (*is_folder)(const char *path);
    /** Fill in src (path and fd are set, fd at the header file).  NULL, and `detect` too: files
     *  that only a description tells how to read. */
    fbp_status (*open)(fbp_source *src);
    bool has_members;                    /**< a file holds several arrays, "FILE:ARRAY" names one */
    const struct fbp_sink_format *files; /**< how it is written; NULL: not as one file */
    const struct fbp_slice_format *slices; /**< NULL: not as a file a slice */
};

#endif /* FBP_SRC_FORMAT_H */
