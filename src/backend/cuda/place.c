/* Where a device is: on PCI, and near which memory of the host. */
#include "backend/cuda/cuda.h"

#include <ctype.h>

void cuda_bus_of(int ordinal, char out[CUDA_BUS_ID])
{
    if (cudaDeviceGetPCIBusId(out, CUDA_BUS_ID, ordinal) != cudaSuccess) {
        (void)cudaGetLastError();
        out[0] = '\0';
    }
    for (char *c = out; *c; c++)
        *c = (char)tolower((unsigned char)*c); /* as the system and other programs write it */
}

int cuda_node_of(int ordinal)
{
    char bus_id[CUDA_BUS_ID];

    cuda_bus_of(ordinal, bus_id);
    return gpu_host->numa_near(FBP_SYS, bus_id);
}
