/* Declares the functions for extended attributes of macOS for the test macos/build, because the
 * package ziglang contains no sys/xattr.h. */
#ifndef XATTR_H
#define XATTR_H

#include <stdint.h>
#include <sys/types.h>

ssize_t getxattr(const char *path, const char *name, void *value, size_t size, uint32_t position,
                 int options);
int setxattr(const char *path, const char *name, const void *value, size_t size, uint32_t position,
             int options);

#endif /* XATTR_H */
