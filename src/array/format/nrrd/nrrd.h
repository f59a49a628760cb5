/** @file nrrd.h  The parts of the NRRD reader (internal). */
#ifndef FBP_SRC_NRRD_H
#define FBP_SRC_NRRD_H

#include "array/file/format.h"

/** Keys of our own: value = scale * number + offset. */
#define NRRD_SCALE   "fbp scale"
#define NRRD_OFFSET  "fbp offset"
#define NRRD_HISTORY "fbp history"

enum { NRRD_MAX_AXES = 16 };

/** The header as it stands; checked when it is complete. */
struct nrrd_header {
    size_t dim;
    size_t n_sizes, sizes[NRRD_MAX_AXES];
    size_t n_spacings, n_mins, n_units, n_space_units, n_centers;
    double spacings[NRRD_MAX_AXES], mins[NRRD_MAX_AXES];
    double unit_mm[NRRD_MAX_AXES], space_unit_mm[NRRD_MAX_AXES]; /**< NaN: not a length */
    bool is_cell[NRRD_MAX_AXES];                                 /**< samples fill cells */
    bool is_place[NRRD_MAX_AXES], is_time[NRRD_MAX_AXES];        /**< by their kinds */
    size_t space_dim;
    size_t n_steps;
    double steps[NRRD_MAX_AXES][3]; /**< space directions; NaN: none */
    bool has_origin;
    double origin[3];
    bool big_endian, has_endian, has_components;
    char type[32], encoding[16];
    long long line_skip, byte_skip;
    char unit[16], history[256];
    double scale, offset; /**< as in struct fbp_array_info */
    char data_file[1024]; /**< as it stands; "" = behind the header */
    char *list;           /**< lines behind "data file: LIST", inside the text; NULL = no list */
};

/** Parse all[n], which starts with the magic and ends where the header does; it is cut up, and
 *  h->list points into it. */
fbp_status fbp_nrrd_parse(const char *path, char *all, size_t n, struct nrrd_header *h);

/** Up to max numbers parted by blanks; false if anything else stands there. */
bool fbp_nrrd_numbers(const char *value, size_t max, double *out, size_t *n);

/** How the samples lie in a file of them. */
struct nrrd_data {
    bool gzip;
    long long line_skip, byte_skip;
};

/** The samples of src, whose header is read and whose fd is at the file that holds them, start at
 * or behind byte `at`: set src->offset, or read through zlib. */
fbp_status fbp_nrrd_place(struct fbp_source *src, const struct nrrd_data *data, uint64_t at);

/** Does `data file` name several files? */
bool fbp_nrrd_is_many(const struct nrrd_header *h);

/** Samples in the files that `data file` names; the header is read. */
fbp_status fbp_nrrd_open_many(struct fbp_source *src, const struct nrrd_data *data,
                              const struct nrrd_header *h);

extern const struct fbp_sink_format fbp_nrrd_files[];

#endif /* FBP_SRC_NRRD_H */
