/** @file formats.h  Names of arrays, by the library's table of formats. */
#ifndef FBP_CLI_FORMATS_H
#define FBP_CLI_FORMATS_H

#include <stdbool.h>
#include <stddef.h>

/** Does the name end as those of the volumes that can be written? */
bool cli_is_volume(const char *path);
/** ... as those of which samples are compressed? */
bool cli_can_compress(const char *path);
/** ".mha, .mhd, … or .png": names of the volumes that can be written.  The same text each time. */
const char *cli_volumes(void);
/** The same of those whose samples are compressed. */
const char *cli_packed(void);
/** A text with names of formats for {read}, {written} and {compressed}, ".mha, .mhd"; returns
 *  buf. */
char *cli_with_formats(const char *text, char *buf, size_t n);

#endif /* FBP_CLI_FORMATS_H */
