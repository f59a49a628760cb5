/** @file mat5.h  Reader of MATLAB files of version 5 to 7 (internal).  Version 7.3 is HDF5.
 *
 * fbp_mat_open() checks the whole file: every variable is there, every compressed one inflates to
 * its end with the right checksum, and every array has as many values as its sizes state.  It lists
 * the variables without their values.  fbp_mat_read() reads one with its values.
 *
 * Full arrays of numbers and text are read, and the members of structs of one element.  Cells,
 * struct arrays, sparse arrays, objects and function handles are listed without their contents.
 *
 * Source: MathWorks, "MAT-File Format", level 5.
 */
#ifndef FBP_SRC_MAT5_H
#define FBP_SRC_MAT5_H

#include "array/file/format.h"

/** Types of stored elements, and classes of arrays, by their numbers in files. */
enum {
    FBP_MI_INT8 = 1,
    FBP_MI_UINT8,
    FBP_MI_INT16,
    FBP_MI_UINT16,
    FBP_MI_INT32,
    FBP_MI_UINT32,
    FBP_MI_SINGLE,
    FBP_MI_DOUBLE = 9,
    FBP_MI_INT64 = 12,
    FBP_MI_UINT64,
    FBP_MI_MATRIX,
    FBP_MI_COMPRESSED,
    FBP_MI_UTF8,
    FBP_MI_UTF16,
    FBP_MI_UTF32
};
enum {
    FBP_MX_CELL = 1,
    FBP_MX_STRUCT,
    FBP_MX_OBJECT,
    FBP_MX_CHAR,
    FBP_MX_SPARSE,
    FBP_MX_DOUBLE,
    FBP_MX_SINGLE,
    FBP_MX_INT8,
    FBP_MX_UINT8,
    FBP_MX_INT16,
    FBP_MX_UINT16,
    FBP_MX_INT32,
    FBP_MX_UINT32,
    FBP_MX_INT64,
    FBP_MX_UINT64,
    FBP_MX_FUNCTION,
    FBP_MX_OPAQUE
};

enum { FBP_MAT_NAME = 64, FBP_MAT_RANK = 32 };

/** A variable of a file, or a member of a struct. */
struct fbp_mat_array {
    char name[FBP_MAT_NAME];
    unsigned class; /**< FBP_MX_*; 0: empty, without a class */
    bool complex;
    size_t rank, sizes[FBP_MAT_RANK];
    uint64_t count; /**< number of elements; UINT64_MAX: too many */
    /** Values by columns in this machine's byte order, as the class has them, text as uint16;
     *  NULL: none, or not read. */
    void *real, *imaginary;
    /** Members of a struct of one element. */
    struct fbp_mat_array *fields;
    size_t n_fields;
};

struct fbp_mat;

/** Does a file start like a MATLAB file of version 5 to 7? */
bool fbp_mat_detect(const char *path, const unsigned char *head, size_t n);

/** Is it a MAT file of version 7.3, which is HDF5 behind a line of text? */
fbp_status fbp_mat_is_hdf5(const char *path, bool *is);

/** Check a file and list its variables; path stays valid while it is open. */
fbp_status fbp_mat_open(const char *path, struct fbp_mat **out);

/** May be called for NULL. */
void fbp_mat_close(struct fbp_mat *mat);

/** All variables, without values. */
const struct fbp_mat_array *fbp_mat_list(const struct fbp_mat *mat, size_t *n);

/** A variable or member, such as "ct.sinogram", without values; NULL if there is none. */
const struct fbp_mat_array *fbp_mat_find(const struct fbp_mat *mat, const char *member);

/** A variable or member with its values; *out NULL if there is none.  fbp_mat_free(). */
fbp_status fbp_mat_read(struct fbp_mat *mat, const char *member, struct fbp_mat_array **out);

/** May be called for NULL. */
void fbp_mat_free(struct fbp_mat_array *array);

/** A member of a struct of one element; NULL if there is none.  parent may be NULL. */
const struct fbp_mat_array *fbp_mat_field(const struct fbp_mat_array *parent, const char *name);

/** Type of an array's elements, or of their real parts; FBP_TYPE_NONE: not full numbers of at most
 *  32 bits or floats. */
enum fbp_type fbp_mat_type(const struct fbp_mat_array *array);

/** Element i of an array that has values; NAN if its class holds no numbers. */
double fbp_mat_element(const struct fbp_mat_array *array, size_t i);

/** Elements of an array of real numbers as doubles; FBP_ERR_INVALID if it holds none.  path, name:
 *  for messages.  free(*out). */
fbp_status fbp_mat_numbers(const char *path, const char *name, const struct fbp_mat_array *array,
                           double **out, size_t *n);

/** Text of an array; "" if it is not text.  array may be NULL. */
void fbp_mat_text_of(const struct fbp_mat_array *array, char *out, size_t n);

/** n doubles of a variable; *found: it is there and holds just these. */
fbp_status fbp_mat_doubles(struct fbp_mat *mat, const char *name, double *out, size_t n,
                           bool *found);

/** Text of a variable; "" if there is none. */
fbp_status fbp_mat_text(struct fbp_mat *mat, const char *name, char *out, size_t n);

#endif /* FBP_SRC_MAT5_H */
