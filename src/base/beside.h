/** @file beside.h  Modules that are opened when they are needed (internal). */
#ifndef FBP_SRC_BESIDE_H
#define FBP_SRC_BESIDE_H

/** Open a module: beside the library or the program that holds it, in its ../lib, where libraries
 *  are installed, or where the system looks.  NULL: it is in none of them, and dlerror() says so.
 */
void *fbp_open_beside(const char *file);

#endif /* FBP_SRC_BESIDE_H */
