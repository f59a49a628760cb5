/** @file outfile.h  A file that appears under its name only when it is complete (internal). */
#ifndef FBP_SRC_OUTFILE_H
#define FBP_SRC_OUTFILE_H

#include "base/status.h"

#include <stdio.h>

struct fbp_outfile {
    FILE *f;
    char *part, *path;
};

/** Open PATH.part for writing. */
fbp_status fbp_outfile_open(struct fbp_outfile *out, const char *path);

/** Close the file and give it its name. */
fbp_status fbp_outfile_finish(struct fbp_outfile *out);

/** Free; without a successful finish the partial file is removed. */
void fbp_outfile_clear(struct fbp_outfile *out);

#endif /* FBP_SRC_OUTFILE_H */
