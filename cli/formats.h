/** @file formats.h  Names of arrays and of geometry files, by the library's tables of formats. */
#ifndef FBP_CLI_FORMATS_H
#define FBP_CLI_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

/** Does the name end as those of the volumes that can be written? */
bool cli_is_volume(const char *path);
/** ... as those that are folders of files? */
bool cli_is_volume_folder(const char *path);
/** ... as those of which samples are compressed? */
bool cli_can_compress(const char *path);
/** ".mha, .mhd, … or .png": names of the volumes that can be written.  The same text each time. */
const char *cli_volumes(void);
/** The same of those whose samples are compressed. */
const char *cli_packed(void);
/** A text with names of formats for {read}, {written} and {compressed}, ".mha, .mhd"; returns
 *  buf. */
char *cli_with_formats(const char *text, char *buf, size_t n);

/** The library's formats of geometry files; they last as long as the program. */
const struct fbp_geometry_format_info *cli_geometry_formats(size_t *n);
/** Does the name end as those of geometry files that can be read? */
bool cli_is_geometry(const char *path);

#endif /* FBP_CLI_FORMATS_H */
