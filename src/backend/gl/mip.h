/** @file mip.h  Projections of volumes, on a device of their own (internal). */
#ifndef FBP_SRC_GL_MIP_H
#define FBP_SRC_GL_MIP_H

#include "picture/projector.h"

extern const struct fbp_projector gl_mip;

#endif /* FBP_SRC_GL_MIP_H */
