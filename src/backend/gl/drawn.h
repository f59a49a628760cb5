/** @file drawn.h  The backend where renderers have no compute shaders, and only draw (internal). */
#ifndef FBP_SRC_GL_DRAWN_H
#define FBP_SRC_GL_DRAWN_H

#include "backend/backend.h"

/** What it computes by: the host filters, and has views and volume in its memory; S3's kernels are
 *  drawn (s3_kernel.h).  Names of devices and what benchmarks ask for are left out. */
extern const struct fbp_backend gl_drawn;

/** What stands behind a kernel's name in the words of an instruction set; one a precision. */
void gl_drawn_name(const char *const isas[4]);

#endif /* FBP_SRC_GL_DRAWN_H */
