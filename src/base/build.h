/** @file build.h  Which program this is (internal). */
#ifndef FBP_SRC_BUILD_H
#define FBP_SRC_BUILD_H

/** Release and, if it was built in a repository, commit: "0.1.0 abcdef123456".  Programs that
 * differ in it may compute other bits. */
const char *fbp_build(void);

#endif /* FBP_SRC_BUILD_H */
