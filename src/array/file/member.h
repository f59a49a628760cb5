/** @file member.h  Names of arrays inside files: "scan.h5:/exchange/data" (internal). */
#ifndef FBP_SRC_MEMBER_H
#define FBP_SRC_MEMBER_H

#include "base/base.h"

/** Behind a name: two dimensions are [view][column]. */
extern const char FBP_SINOGRAM[];

/**
 * Split the name of an input.  A file of the whole name wins; else the last ':' before which a file
 * is named that is there parts file from member; else there is no member.  FBP_SINOGRAM behind the
 * name of a file is a member, too.
 *
 * file    malloc'ed
 * member  malloc'ed, or NULL
 * @return FBP_OK or FBP_ERR_NOMEM.
 */
fbp_status fbp_member_split(const char *path, char **file, char **member);

/** The part of an output's name that names the file, where one of `extensions` ends it: length of
 *  "volume.h5" in "volume.h5:/name", or of the whole. */
size_t fbp_member_output(const char *path, const char *extensions);

#endif /* FBP_SRC_MEMBER_H */
