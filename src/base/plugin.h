/** @file plugin.h  The running program: its build, and shared libraries loaded on demand
 * (internal). */
#ifndef FBP_SRC_PLUGIN_H
#define FBP_SRC_PLUGIN_H

/* Modules that are opened when they are needed. */

/** Open a module: beside the library or the program that holds it, in its ../lib, where libraries
 *  are installed, or where the system looks.  NULL: it is in none of them, and dlerror() says so.
 */
void *fbp_open_beside(const char *file);

/* Which program this is. */

/** Release and, if it was built in a repository, commit: "0.1.0 abcdef123456".  Programs that
 * differ in it may compute other bits. */
const char *fbp_build(void);

#endif /* FBP_SRC_PLUGIN_H */
