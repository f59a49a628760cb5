/** @file hdf5.h  A data set of an HDF5 file as the library describes it (internal). */
#ifndef FBP_SRC_HDF5_H
#define FBP_SRC_HDF5_H

#include "array/file/format.h"
#include "base/sandbox.h"

enum fbp_hdf5_how {
    FBP_HDF5_CONTIGUOUS, /**< one run of samples at `offset` */
    FBP_HDF5_CHUNKED,    /**< chunks that this program reads itself: plain, deflate, shuffle */
    FBP_HDF5_LIBRARY,    /**< what only the library can read */
    FBP_HDF5_COLUMNS,    /**< of MATLAB: transposed into memory */
};

/** Where a chunk lies; bytes 0: nowhere, its samples are the fill value. */
struct fbp_hdf5_chunk {
    uint64_t at;
    uint32_t bytes;
    uint32_t left_out; /**< bit i: filter i was not applied */
};

/** What the library says; followed in the reply by names of files, map[n[2]] (if `selected`) and
 * the chunks. */
struct fbp_hdf5_array {
    enum fbp_hdf5_how how;
    struct fbp_array_info info; /**< all but `format`; n[2]: selected slices */
    size_t n_slices;            /**< that the data set has */
    uint64_t offset;
    size_t chunk[3]; /**< columns, rows, slices of a chunk, or of what the library reads at once */
    int rank;
    bool sinogram; /**< of two dimensions [view][column] */
    bool selected, shuffle, deflate;
    unsigned char fill[8]; /**< a sample nobody wrote, in the byte order of the file */
    size_t n_chunks;       /**< entries in the table: a whole grid of chunks */
    size_t file_bytes;     /**< of names of virtual sources' files, in the reply behind this */
    char file[1024];       /**< that holds the samples: links lead to others, too */
    char data_set[1024];
};

/** What is wanted of a data set; argument of fbp_hdf5_describe(). */
struct fbp_hdf5_wanted {
    const char *path, *file, *member; /**< as given; parts of it; member NULL: the only one */
};

/** In a child: look at a data set, reply with struct fbp_hdf5_array, map and chunks. */
fbp_contained_fn fbp_hdf5_describe;

/** A block of a data set, into shared memory; argument of fbp_hdf5_read_block(). */
struct fbp_hdf5_block {
    const char *path;
    const struct fbp_hdf5_array *array;
    size_t first[3], n[3]; /**< columns, rows, slices in the file */
    size_t room[3];        /**< of `out`, which starts with the block */
    void *out;
};

/** In a child: read a block through the library. */
fbp_contained_fn fbp_hdf5_read_block;

/** Which of columns, rows, slices (0, 1, 2) dimension i of the data set is. */
int fbp_hdf5_axis(const struct fbp_hdf5_array *a, int i);

/** Size of the grid of chunks. */
void fbp_hdf5_grid(const struct fbp_hdf5_array *a, size_t grid[3]);

/** Make src read chunks: takes over map and chunks, which free() frees. */
fbp_status fbp_hdf5_chunks_open(struct fbp_source *src, const struct fbp_hdf5_array *a,
                                uint64_t *map, struct fbp_hdf5_chunk *chunks);

extern const struct fbp_sink_format fbp_hdf5_files[];

#endif /* FBP_SRC_HDF5_H */
