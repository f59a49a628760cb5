/** @file identity.h  Is it the same file as before? (internal) */
#ifndef FBP_SRC_IDENTITY_H
#define FBP_SRC_IDENTITY_H

#include <stdint.h>

/** A number for the file `name` of an open folder, or the open file itself where that is "": made
 * of its inode, and of the time of its birth where that is known, as a new file may get the inode
 * of one that was removed.  0: nobody can say. */
uint64_t fbp_file_identity(int fd, const char *name);

#endif /* FBP_SRC_IDENTITY_H */
