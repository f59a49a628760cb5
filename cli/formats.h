/** @file formats.h  File name extensions of arrays and geometry files, from the library's tables of
 * formats; for checks of options and for help texts.  Implemented in formats.c. */
#ifndef FBP_CLI_FORMATS_H
#define FBP_CLI_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

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

#endif /* FBP_CLI_FORMATS_H */
