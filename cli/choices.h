/** @file choices.h  Permitted values of options (functions for the member `list` of struct opt),
 * and file name extensions, both from tables of the library.  Used by the option tables, checks and
 * help texts of all commands; implemented in choices.c. */
#ifndef FBP_CLI_CHOICES_H
#define FBP_CLI_CHOICES_H

#include <stdbool.h>
#include <stddef.h>

/** Name of value i of an enum; "": value i cannot be chosen; NULL: beyond the last value. */
const char *choices_weights(size_t i);
/** Weights of plane integrals: name i is value i - 1 of the enum; 0: the scan's weights. */
const char *choices_quadrature(size_t i);
/** Kinds of geometry.  Unsupported kinds are included: the library then reports the reason. */
const char *choices_kind(size_t i);
/** Supported kinds with line integrals: name i is kind i - 1; 0: no kind. */
const char *choices_kind_or_none(size_t i);
const char *choices_precision(size_t i);
const char *choices_output_type(size_t i);
const char *choices_sample_type(size_t i);
/** Formats of geometry files that fbp can read, or write; "": all other formats. */
const char *choices_geometry_read(size_t i);
const char *choices_geometry_written(size_t i);

/** True if fbp can write a volume with the extension of this name. */
bool cli_is_volume(const char *path);
/** True if a volume with this extension is a folder of files, such as OME-Zarr. */
bool cli_is_volume_folder(const char *path);
/** True if fbp can compress the samples of a volume with this extension. */
bool cli_can_compress(const char *path);
/** Extensions of the volumes that fbp can write: ".mha, .mhd, … or .png".  Static text. */
const char *cli_volumes(void);
/** Extensions of the volumes that fbp can compress, in the same form. */
const char *cli_packed(void);
/** Copy `text` to buf[n]; {read}, {written} and {compressed} become lists of extensions, such as
 *  ".mha, .mhd".  Returns buf. */
char *cli_with_formats(const char *text, char *buf, size_t n);

/** The library's formats of geometry files: a static array of *n entries. */
const struct fbp_geometry_format_info *cli_geometry_formats(size_t *n);

#endif /* FBP_CLI_CHOICES_H */
