/** @file vendor.h  The drivers that libEGL knows of, where it lists no device (internal). */
#ifndef FBP_SRC_GL_VENDOR_H
#define FBP_SRC_GL_VENDOR_H

#include <stddef.h>

/** Why there is no device: no file names a driver, the drivers that are named are not there, or
 *  they list none. */
void gl_vendor_why(char *why, size_t n);

#endif /* FBP_SRC_GL_VENDOR_H */
