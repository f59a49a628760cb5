/** @file bytes.h  Reads and writes byte ranges and text files, prints and parses numbers
 * independently of the locale, converts samples to float and double, and names sample types
 * (internal; bytes.c, values.c).
 * Used by: bench/, cli/, array/, phantom/, pipeline/, scan/. */
#ifndef FBP_SRC_ARRAY_FILE_BYTES_H
#define FBP_SRC_ARRAY_FILE_BYTES_H

#include "base/base.h"
#include "fbp/array.h"

#include <stdio.h>

struct stat;

/* bytes.c: reads and writes of byte ranges; interrupted and short system calls are repeated */

/** Read n bytes at byte `offset` of a file; FBP_ERR_IO if the file ends before byte offset + n. */
fbp_status fbp_read_at(int fd, const char *path, uint64_t offset, void *out, size_t n);

/** Read up to n bytes at byte `offset` of a file; *got: bytes read, below n if the file ends. */
fbp_status fbp_read_most(int fd, const char *path, uint64_t offset, void *out, size_t n,
                         size_t *got);

/** Write n bytes at `offset`. */
fbp_status fbp_write_at(int fd, const char *path, uint64_t offset, const void *data, size_t n);

/** Write a text at the current position of an open file. */
fbp_status fbp_append(int fd, const char *path, const char *text);

/** Length of the name of the output to which a temporary file such as "v.mha.part.log" belongs; of
 * another file: length of its whole name. Messages name the output. */
int fbp_output_length(const char *path);

/** Fail with FBP_ERR_IO and a message that a file could not be written. error: the errno of the
 * write; bytes: size of the whole file [bytes], 0: unknown. */
fbp_status fbp_fail_write(const char *path, int error, uint64_t bytes);

/** Fail with FBP_ERR_IO and the text of errno, because stat() failed (fbp_fail_status()), or
 * because the folder that contains `path` cannot be listed (fbp_fail_list()). */
fbp_status fbp_fail_status(const char *path);
fbp_status fbp_fail_list(const char *path);

/** Open a regular file for reading; *size: its size [bytes]. */
fbp_status fbp_open_file(const char *path, int *fd, uint64_t *size);

/** Size of an open file [bytes]; 0: unknown, as for a pipe. Changes the file position. */
uint64_t fbp_file_bytes(int fd);

/** Read the first n bytes of a file, or all bytes if it is shorter; *got: number of bytes read; 0
 * if the file is missing or not a regular file. */
fbp_status fbp_read_head(const char *path, void *head, size_t n, size_t *got);

/** Call stat(); a missing file is no error. *there: whether the file exists. */
fbp_status fbp_stat(const char *path, struct stat *out, bool *there);

/** Whether a path names a folder, or a link to one. */
bool fbp_is_folder(const char *path);

/** Find whether a file exists (*there); a file in a folder without access counts as missing. path
 * NULL: FBP_ERR_NOMEM, because the caller ran out of memory for the name. */
fbp_status fbp_file_exists(const char *path, bool *there);

/** Read a whole text file, without a byte order mark; *n: length without the final '\0'. A file of
 * more than max_bytes is an error. The caller frees *text. */
fbp_status fbp_read_text(const char *path, size_t max_bytes, char **text, size_t *n);

/** fbp_read_text() for an open file, which stays open; path: file name for messages. */
fbp_status fbp_read_open_text(int fd, const char *path, size_t max_bytes, char **text, size_t *n);

/* bytes.c: numbers as text, with a decimal point in every locale */

/** strtod() that expects a decimal point in every locale. */
double fbp_number(const char *text, char **end);

/** Print x with as few digits, from 15 on, as reproduce it exactly, and with a decimal point in
 * every locale; returns buf. */
char *fbp_number_text(char buf[32], double x);

/** Print three numbers, separated by the text `between`, to buf[n]; returns buf. */
char *fbp_triple_text(char *buf, size_t n, const char *between, const double x[3]);

/** Parse a text that is one integer; false if it contains anything else. */
bool fbp_parse_integer(const char *value, long long *out);

/** Parse a text of 1 to `most` numbers separated by blanks; false if it contains anything else.
 * finite: "inf" and "nan" are refused. */
bool fbp_parse_numbers(const char *value, size_t most, double *out, bool finite, size_t *n);

/** Parse a text of 1 to `most` sizes (integers >= 0) separated by blanks; false: anything else. */
bool fbp_parse_sizes(const char *value, size_t most, size_t *out, size_t *n);

/** Millimetres per unit of length, by the name unit[n], such as "um" or "millimeter"; 0: the name
 * is no known unit of length. */
double fbp_length_unit_mm(const char *unit, size_t n);

/* bytes.c: samples in memory */

/** Whether the bytes of samples that are stored big-endian (false: little-endian) must be swapped
 * on this machine. */
bool fbp_is_foreign(bool big_endian);

/** Reverse the order of the bytes within each of n elements of `size` bytes, in place. */
void fbp_swap_bytes(void *data, size_t size, size_t n);

/** Convert n samples in native byte order, of any alignment, to float. scale 0: sample values are
 * not changed; else scale * number + offset, computed in double. */
void fbp_to_float(enum fbp_type type, double scale, double offset, const void *in, size_t n,
                  float *out);

/** Convert n samples in native byte order to double. scale 0: sample values are not changed; else
 * scale * number + offset. `in` may overlap the end of `out` if both end at the same byte. */
void fbp_to_double(enum fbp_type type, double scale, double offset, const void *in, size_t n,
                   double *out);

/** Total size of the samples that a header describes [bytes]; FBP_ERR_INVALID if a dimension is 0
 * or the product is too large. */
fbp_status fbp_array_bytes(const char *path, const struct fbp_array_info *info, uint64_t *bytes);

/* values.c: codes of sample types in NPY and Zarr files, such as "f4", without the byte order */

/** NumPy code of a sample type, such as "f4" for FBP_F32. */
const char *fbp_type_to_numpy(enum fbp_type type);

/** Sample type of a NumPy code of n letters, such as "u2"; FBP_TYPE_NONE: not supported. "b1"
 * (truth values) gives FBP_U8. */
enum fbp_type fbp_type_from_numpy(const char *code, size_t n);

/* values.c: samples in one contiguous range of a file */

/** Whether to write n floats by streaming stores, which bypass the caches: true if the values are
 * too many to stay in the caches; always false without SSE2. */
bool fbp_past_caches(size_t n);

/** Convert n samples of info->type, in native byte order, to float as fbp_to_float() does, with
 * info->scale and info->offset; past_caches: by streaming stores. */
void fbp_to_values(const struct fbp_array_info *info, const void *in, size_t n, bool past_caches,
                   float *out);

/** Read n samples from byte `at` of a file, in the file's type; bytes are swapped to native order
 * if the file's order differs. */
fbp_status fbp_read_numbers(int fd, const char *path, uint64_t at,
                            const struct fbp_array_info *info, size_t n, void *out);

/** Read n samples from byte `at` of a file, and convert them as fbp_to_values() does. */
fbp_status fbp_read_values(int fd, const char *path, uint64_t at, const struct fbp_array_info *info,
                           size_t n, float *out);

/** Write an array of MATLAB, A(slice, row, column), whose first index varies fastest in memory, to
 * a file in the order [slice][row][column]. size: bytes per sample; n: columns, rows, slices. */
fbp_status fbp_column_major_write(int fd, const char *path, const void *data, size_t size,
                                  const size_t n[3]);

/** Name of a sample type: "uint8" … "float64"; "none" for FBP_TYPE_NONE. */
const char *fbp_type_name(enum fbp_type type);

/** Check a sample type that the calling program passes: FBP_ERR_INVALID unless it is FBP_F32 or
 * FBP_F64. where: beginning of the message. */
fbp_status fbp_check_float(const char *where, enum fbp_type type);

/** Sample type of a name such as "uint8"; FBP_TYPE_NONE for an unknown name. */
enum fbp_type fbp_type_from_name(const char *name);

#endif /* FBP_SRC_ARRAY_FILE_BYTES_H */
