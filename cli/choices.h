/** @file choices.h  Permitted values of command-line options (functions choices_…(), for the member
 * `list` of struct opt), and checks and lists of the file name extensions that fbp can read, write
 * and compress. Both come from tables of the library. Implemented in choices.c.
 * Used by: bench/common/, bench/kernels/, cli/. */
#ifndef FBP_CLI_CHOICES_H
#define FBP_CLI_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

/** Name of value i of enum fbp_angular_weights. All functions choices_…() return "" for a value
 * that no option can choose, and NULL beyond the last value. */
const char *choices_weights(size_t i);
/** Names for --quadrature: name i is value i - 1 of enum fbp_quadrature; name 0 is "", the weights
 * of the scan. */
const char *choices_quadrature(size_t i);
/** Names of the supported kinds of line integrals, for fbp init --kind: name i is the value i - 1
 * of enum fbp_kind; name 0 is "" and means that no kind is given. */
const char *choices_kind_or_none(size_t i);
const char *choices_precision(size_t i);
const char *choices_output_type(size_t i);
const char *choices_sample_type(size_t i);
/** Names of the geometry file formats that fbp can read, and of those that it can write. */
const char *choices_geometry_read(size_t i);
const char *choices_geometry_written(size_t i);

/** True if fbp can write a volume to a file with the extension of `path`. */
bool cli_is_volume(const char *path);
/** True if a volume with the extension of `path` is a folder of files, such as OME-Zarr. */
bool cli_is_volume_folder(const char *path);
/** True if fbp can compress the voxels of a volume file with the extension of `path`. */
bool cli_can_compress(const char *path);
/** Extensions of the volume files that fbp can write, as a static text: ".mha, .mhd, … or .png". */
const char *cli_volumes(void);
/** Extensions of the volume files that fbp can compress, as a static text: ".mha, … or .zarr". */
const char *cli_packed(void);
/** Copy `text` to buf[n], with {read}, {written} and {compressed} replaced by the file name
 * extensions that fbp can read, write and compress, such as ".mha, .mhd".  Returns buf. */
char *cli_with_formats(const char *text, char *buf, size_t n);

#endif /* FBP_CLI_CHOICES_H */
