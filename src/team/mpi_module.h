/** @file mpi_module.h  The border to the module libfbp_mpi.so, which alone knows MPI (internal). */
#ifndef FBP_SRC_MPI_MODULE_H
#define FBP_SRC_MPI_MODULE_H

#include "fbp/team.h"

/** Raised with every change of what crosses the border. */
enum { FBP_MPI_MODULE_VERSION = 2 };

/** The one function that the module exports: the processes that MPI has started; false with the
 *  sentence in `why`.  patience: so many seconds at most until all of them have joined, or until
 *  stopped(); if that was not enough, this process can but end. */
typedef bool fbp_mpi_fn(unsigned version, double patience, bool (*stopped)(void),
                        struct fbp_team_functions *out, char *why, size_t n);

#endif /* FBP_SRC_MPI_MODULE_H */
