/** @file version.h  Public header: release of libfbp's headers, as numbers and as text.
 *
 * The build, `fbp --version`, fbp.pc, the CMake package and the Python packages take the release
 * from this file.  fbp_version() returns the release of the library that a program runs with.
 */
#ifndef FBP_VERSION_H
#define FBP_VERSION_H

#define FBP_VERSION_MAJOR 0
#define FBP_VERSION_MINOR 1
#define FBP_VERSION_PATCH 0

#define FBP_VERSION_TEXT_(x) #x
#define FBP_VERSION_DOTTED_(major, minor, patch) \
    FBP_VERSION_TEXT_(major) "." FBP_VERSION_TEXT_(minor) "." FBP_VERSION_TEXT_(patch)
/** Release of the headers as text, "0.1.0". */
#define FBP_VERSION FBP_VERSION_DOTTED_(FBP_VERSION_MAJOR, FBP_VERSION_MINOR, FBP_VERSION_PATCH)

#endif /* FBP_VERSION_H */
