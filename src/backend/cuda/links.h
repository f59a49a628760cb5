/** @file links.h  Rates of copies between memories, measured (internal).
 *
 * The functions of a struct fbp_link_meter, with CUDA's ordinals for indices.
 */
#ifndef FBP_SRC_CUDA_LINKS_H
#define FBP_SRC_CUDA_LINKS_H

#include "backend/link_meter.h"

/** Memory of a device's end, and of the host's: half of each is copied from, half to. */
enum { CUDA_LINK_DEVICE_BYTES = 256 << 20, CUDA_LINK_HOST_BYTES = 128 << 20 };

bool cuda_link_identify(int ordinal, char *out, size_t n);
void cuda_link_peer(int from, int to, struct fbp_peer *out);
fbp_status cuda_link_open(void **out, const int *ordinals, size_t n);
void cuda_link_close(void **meter);
bool cuda_link_connect(void *meter, size_t from, size_t to);
fbp_status cuda_link_rate(void *meter, const struct fbp_flow *flows, size_t n, double *out);

#endif /* FBP_SRC_CUDA_LINKS_H */
