/** @file peer.h  Direct copies between the memories of two devices (internal). */
#ifndef FBP_SRC_CUDA_PEER_H
#define FBP_SRC_CUDA_PEER_H

#include <cuda_runtime_api.h>

#include "base/base.h"

#include <stdbool.h>

/** Access of a device to another's memory: the machine has none, it was there, or it is there from
 *  this call on, and the caller's to take away. */
enum cuda_peer { CUDA_PEER_NONE, CUDA_PEER_WAS_THERE, CUDA_PEER_NEW };

enum { CUDA_PEER_PROBE = 64 << 10 };

/** One end of a probe: memory of CUDA_PEER_PROBE bytes, and a queue of the device. */
struct cuda_peer_end {
    int device;
    char *memory;
    cudaStream_t stream;
};

/** Leaves `device` current, and no error behind. */
enum cuda_peer cuda_peer_enable(int device, int other);

/** Do bytes arrive as they were?  Under some settings of the machine's bus (IOMMU, ACS) they do
 *  not, and nothing reports it.  host: of CUDA_PEER_PROBE bytes. */
bool cuda_peer_carries(const struct cuda_peer_end *from, const struct cuda_peer_end *to,
                       unsigned char *host);

/** Get copies to a device from another ready: direct ones if there are and they carry what they
 *  should, which is looked at once a process, else through the host.  Leaves `to` current. */
fbp_status cuda_peer_reach(int to, int from);

/** For tests: so many of the next probes find that nothing arrives. */
extern unsigned cuda_peer_plant;

#endif /* FBP_SRC_CUDA_PEER_H */
