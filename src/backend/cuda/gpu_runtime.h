/** @file gpu_runtime.h  Names for the runtime of the GPU's language: gpuMalloc() is cudaMalloc(),
 * or hipMalloc() if __HIP_PLATFORM_AMD__ is defined (internal; C and CUDA C++).  Also contains
 * device functions with inline PTX.  No other file names functions, types or constants of CUDA's
 * runtime (tests/house/gpu_runtime.sh).
 * Used by: bench/cuda/, backend/cuda/.
 */
#ifndef FBP_SRC_BACKEND_CUDA_GPU_RUNTIME_H
#define FBP_SRC_BACKEND_CUDA_GPU_RUNTIME_H

/*
 * A backend for HIP needs, apart from a file like cmake/cuda.cmake:
 *
 * - other versions of the functions with inline PTX: those at the end of this file, load_if() in
 *   orbit_exact.cu, and planes_parts.h;
 * - HIP 6 or later: earlier versions lack hipHostAllocPortable, hipMemoryTypeUnregistered, and
 *   members of hipDeviceProp_t and hipPointerAttribute_t;
 * - warps of 32 threads.  frame.h, filter_kernels.h, chain.cu, pad.cu and planes_parts.h have masks
 *   of 32 bits for __shfl_xor_sync(), __ballot_sync() and __reduce_max_sync(); chain.cu also calls
 *   __syncwarp(); __reduce_max_sync() and __cvta_generic_to_shared() are missing in HIP;
 * - sums rounded downwards: __fadd_rd(), __fmaf_rd() and __dadd_rd() are optional in HIP;
 * - for kernels of fp16 and of precision fast, a GPU with texture units;
 * - the folders in which cufft.c searches for hipFFT, whose functions are those of cuFFT.
 *
 * The HIP branch was compiled with the host code and headers of HIP 6.3; no kernel was.
 */

#if defined(__HIP_PLATFORM_AMD__)
#    ifdef __HIPCC__
#        include <hip/hip_fp16.h>
#        include <hip/hip_runtime.h>
#        define GPU_COMPILER
#        define __grid_constant__
#    endif
#    include <hip/hip_runtime_api.h>
#    define GPU_NAME(name) hip##name
#else
#    ifdef __CUDACC__
#        include <cuda_fp16.h>
#        define GPU_COMPILER
#    endif
#    include <cuda_runtime_api.h>
#    define GPU_NAME(name) cuda##name
#endif
/* GPU_COMPILER is defined in .cu files, the only ones that may contain kernels. */

typedef GPU_NAME(Array_t) gpuArray_t;
typedef GPU_NAME(Error_t) gpuError_t;
typedef GPU_NAME(Event_t) gpuEvent_t;
typedef GPU_NAME(Stream_t) gpuStream_t;
typedef GPU_NAME(SurfaceObject_t) gpuSurfaceObject_t;
typedef GPU_NAME(TextureObject_t) gpuTextureObject_t;
typedef enum GPU_NAME(MemcpyKind) gpuMemcpyKind;
typedef struct GPU_NAME(ChannelFormatDesc) gpuChannelFormatDesc;
typedef struct GPU_NAME(Extent) gpuExtent;
typedef struct GPU_NAME(FuncAttributes) gpuFuncAttributes;
typedef struct GPU_NAME(Memcpy3DParms) gpuMemcpy3DParms;
typedef struct GPU_NAME(Pos) gpuPos;
typedef struct GPU_NAME(ResourceDesc) gpuResourceDesc;
typedef struct GPU_NAME(TextureDesc) gpuTextureDesc;

#define gpuSuccess                       GPU_NAME(Success)
#define gpuErrorInvalidValue             GPU_NAME(ErrorInvalidValue)
#define gpuErrorMemoryAllocation         GPU_NAME(ErrorMemoryAllocation)
#define gpuErrorNoDevice                 GPU_NAME(ErrorNoDevice)
#define gpuErrorPeerAccessAlreadyEnabled GPU_NAME(ErrorPeerAccessAlreadyEnabled)
#define gpuGetErrorString                GPU_NAME(GetErrorString)
#define gpuGetLastError                  GPU_NAME(GetLastError)

#define gpuDriverGetVersion    GPU_NAME(DriverGetVersion)
#define gpuGetDeviceCount      GPU_NAME(GetDeviceCount)
#define gpuGetDeviceProperties GPU_NAME(GetDeviceProperties)
#define gpuDeviceGetAttribute  GPU_NAME(DeviceGetAttribute)
#define gpuDeviceGetPCIBusId   GPU_NAME(DeviceGetPCIBusId)
#define gpuDeviceSynchronize   GPU_NAME(DeviceSynchronize)
#define gpuGetDevice           GPU_NAME(GetDevice)
#define gpuSetDevice           GPU_NAME(SetDevice)
#define gpuMemGetInfo          GPU_NAME(MemGetInfo)

#define gpuDeviceCanAccessPeer             GPU_NAME(DeviceCanAccessPeer)
#define gpuDeviceEnablePeerAccess          GPU_NAME(DeviceEnablePeerAccess)
#define gpuDeviceDisablePeerAccess         GPU_NAME(DeviceDisablePeerAccess)
#define gpuDeviceGetP2PAttribute           GPU_NAME(DeviceGetP2PAttribute)
#define gpuDevP2PAttrAccessSupported       GPU_NAME(DevP2PAttrAccessSupported)
#define gpuDevP2PAttrNativeAtomicSupported GPU_NAME(DevP2PAttrNativeAtomicSupported)
#define gpuDevP2PAttrPerformanceRank       GPU_NAME(DevP2PAttrPerformanceRank)

#define gpuMalloc                 GPU_NAME(Malloc)
#define gpuMalloc3DArray          GPU_NAME(Malloc3DArray)
#define gpuFree                   GPU_NAME(Free)
#define gpuFreeArray              GPU_NAME(FreeArray)
#define gpuHostAlloc              GPU_NAME(HostAlloc)
#define gpuHostAllocPortable      GPU_NAME(HostAllocPortable)
#define gpuFreeHost               GPU_NAME(FreeHost)
#define gpuHostRegister           GPU_NAME(HostRegister)
#define gpuHostRegisterPortable   GPU_NAME(HostRegisterPortable)
#define gpuHostUnregister         GPU_NAME(HostUnregister)
#define gpuPointerGetAttributes   GPU_NAME(PointerGetAttributes)
#define gpuMemoryTypeDevice       GPU_NAME(MemoryTypeDevice)
#define gpuMemoryTypeManaged      GPU_NAME(MemoryTypeManaged)
#define gpuMemoryTypeUnregistered GPU_NAME(MemoryTypeUnregistered)

#define gpuMemset               GPU_NAME(Memset)
#define gpuMemsetAsync          GPU_NAME(MemsetAsync)
#define gpuMemcpy               GPU_NAME(Memcpy)
#define gpuMemcpyAsync          GPU_NAME(MemcpyAsync)
#define gpuMemcpy2DAsync        GPU_NAME(Memcpy2DAsync)
#define gpuMemcpy3DAsync        GPU_NAME(Memcpy3DAsync)
#define gpuMemcpyPeerAsync      GPU_NAME(MemcpyPeerAsync)
#define gpuMemcpyDefault        GPU_NAME(MemcpyDefault)
#define gpuMemcpyDeviceToDevice GPU_NAME(MemcpyDeviceToDevice)
#define gpuMemcpyDeviceToHost   GPU_NAME(MemcpyDeviceToHost)
#define gpuMemcpyHostToDevice   GPU_NAME(MemcpyHostToDevice)

#define gpuStreamCreateWithFlags        GPU_NAME(StreamCreateWithFlags)
#define gpuStreamCreateWithPriority     GPU_NAME(StreamCreateWithPriority)
#define gpuDeviceGetStreamPriorityRange GPU_NAME(DeviceGetStreamPriorityRange)
#define gpuStreamDestroy                GPU_NAME(StreamDestroy)
#define gpuStreamNonBlocking            GPU_NAME(StreamNonBlocking)
#define gpuStreamSynchronize            GPU_NAME(StreamSynchronize)
#define gpuStreamWaitEvent              GPU_NAME(StreamWaitEvent)
#define gpuEventBlockingSync            GPU_NAME(EventBlockingSync)
#define gpuEventCreate                  GPU_NAME(EventCreate)
#define gpuEventCreateWithFlags         GPU_NAME(EventCreateWithFlags)
#define gpuEventDestroy                 GPU_NAME(EventDestroy)
#define gpuEventDisableTiming           GPU_NAME(EventDisableTiming)
#define gpuEventElapsedTime             GPU_NAME(EventElapsedTime)
#define gpuEventQuery                   GPU_NAME(EventQuery)
#define gpuEventRecord                  GPU_NAME(EventRecord)
#define gpuEventSynchronize             GPU_NAME(EventSynchronize)

#define gpuAddressModeBorder      GPU_NAME(AddressModeBorder)
#define gpuArrayLayered           GPU_NAME(ArrayLayered)
#define gpuArraySurfaceLoadStore  GPU_NAME(ArraySurfaceLoadStore)
#define gpuChannelFormatKindFloat GPU_NAME(ChannelFormatKindFloat)
#define gpuCreateChannelDesc      GPU_NAME(CreateChannelDesc)
#define gpuCreateSurfaceObject    GPU_NAME(CreateSurfaceObject)
#define gpuCreateTextureObject    GPU_NAME(CreateTextureObject)
#define gpuDestroySurfaceObject   GPU_NAME(DestroySurfaceObject)
#define gpuDestroyTextureObject   GPU_NAME(DestroyTextureObject)
#define gpuFilterModeLinear       GPU_NAME(FilterModeLinear)
#define gpuReadModeElementType    GPU_NAME(ReadModeElementType)
#define gpuResourceTypeArray      GPU_NAME(ResourceTypeArray)

#define gpuFuncAttributeMaxDynamicSharedMemorySize GPU_NAME(FuncAttributeMaxDynamicSharedMemorySize)
#define gpuFuncAttributePreferredSharedMemoryCarveout \
    GPU_NAME(FuncAttributePreferredSharedMemoryCarveout)
#define gpuFuncGetAttributes GPU_NAME(FuncGetAttributes)
#define gpuFuncSetAttribute  GPU_NAME(FuncSetAttribute)
#define gpuLaunchKernel      GPU_NAME(LaunchKernel)
#define gpuOccupancyMaxActiveBlocksPerMultiprocessor \
    GPU_NAME(OccupancyMaxActiveBlocksPerMultiprocessor)

/* Names of CUDA and HIP that differ by more than their prefix. */
#if defined(__HIP_PLATFORM_AMD__)
typedef hipDeviceProp_t gpuDeviceProp_t;
typedef hipPointerAttribute_t gpuPointerAttributes;
typedef struct hipfftHandle_t *gpuFft_t;
#    define GPU_NO_FFT                             NULL
#    define GPU_FFT(name)                          "hipfft" name
#    define GPU_FFT_LIBRARIES                      "libhipfft.so.0"
#    define gpuDevAttrComputeCapabilityMajor       hipDeviceAttributeComputeCapabilityMajor
#    define gpuDevAttrComputeCapabilityMinor       hipDeviceAttributeComputeCapabilityMinor
#    define gpuDevAttrMaxSharedMemoryPerBlockOptin hipDeviceAttributeSharedMemPerBlockOptin
#    define gpuDevAttrMaxThreadsPerMultiProcessor  hipDeviceAttributeMaxThreadsPerMultiProcessor
#    define gpuDevAttrMultiProcessorCount          hipDeviceAttributeMultiprocessorCount
#    define gpuSharedmemCarveoutMaxShared          100 /* percent */
#    define GPU_VERSION                            HIP_VERSION
#    define GPU_MAJOR(version)                     ((version) / 10000000)
#    define GPU_MINOR(version)                     ((version) / 100000 % 100)

/* HIP 6.3 lacks the copy of arrays between devices, and the prediction of free shared memory: these
 * substitutes fail. */
typedef struct {
    gpuArray_t srcArray, dstArray;
    gpuPos srcPos, dstPos;
    int srcDevice, dstDevice;
    gpuExtent extent;
} gpuMemcpy3DPeerParms;
#    define gpuMemcpy3DPeerAsync(parameters, stream) \
        ((void)(parameters), (void)(stream), hipErrorNotSupported)
#    define gpuOccupancyAvailableDynamicSMemPerBlock(out, kernel, blocks, threads) \
        hipErrorNotSupported
#else
typedef struct cudaDeviceProp gpuDeviceProp_t;
typedef struct cudaPointerAttributes gpuPointerAttributes;
typedef struct cudaMemcpy3DPeerParms gpuMemcpy3DPeerParms;
typedef int gpuFft_t;
#    define GPU_NO_FFT                               (-1)
#    define GPU_FFT(name)                            "cufft" name
#    define GPU_FFT_LIBRARIES                        "libcufft.so.12", "libcufft.so.11"
#    define gpuDevAttrComputeCapabilityMajor         cudaDevAttrComputeCapabilityMajor
#    define gpuDevAttrComputeCapabilityMinor         cudaDevAttrComputeCapabilityMinor
#    define gpuDevAttrMaxSharedMemoryPerBlockOptin   cudaDevAttrMaxSharedMemoryPerBlockOptin
#    define gpuDevAttrMaxThreadsPerMultiProcessor    cudaDevAttrMaxThreadsPerMultiProcessor
#    define gpuDevAttrMultiProcessorCount            cudaDevAttrMultiProcessorCount
#    define gpuSharedmemCarveoutMaxShared            cudaSharedmemCarveoutMaxShared
#    define GPU_VERSION                              CUDART_VERSION
#    define GPU_MAJOR(version)                       ((version) / 1000)
#    define GPU_MINOR(version)                       ((version) % 1000 / 10)
#    define gpuMemcpy3DPeerAsync                     cudaMemcpy3DPeerAsync
#    define gpuOccupancyAvailableDynamicSMemPerBlock cudaOccupancyAvailableDynamicSMemPerBlock
#endif

/* Converts a call to text for messages, with the function names of the runtime in use (CUDA or
 * HIP). */
#define GPU_TEXT(...)    GPU_TEXT_OF(__VA_ARGS__)
#define GPU_TEXT_OF(...) #__VA_ARGS__

#ifdef GPU_COMPILER

/** Returns 1/x to within one unit in the last place. */
static __device__ inline float cuda_reciprocal(float x)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/* Asynchronous copies to shared memory, which need sm_80 or later, and loads from 32-bit addresses
 * of shared memory. */
#    if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
enum { CUDA_CAN_COPY = 0 };
#    else
enum { CUDA_CAN_COPY = 1 };
#    endif

/** Start an asynchronous copy of 16 bytes to shared memory; if `there` is false, 16 zero bytes are
 * written instead. */
[[maybe_unused]] static __device__ inline void cuda_copy_16_bytes(unsigned to, const void *from,
                                                                  bool there)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(to), "l"(from), "r"(there ? 16 : 0)
                 : "memory");
#    endif
}

/** End a group of asynchronous copies: those that this thread started since the last call. */
[[maybe_unused]] static __device__ inline void cuda_end_of_copy(void)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" : : : "memory");
#    endif
}

/** Wait until all groups of asynchronous copies of this thread are complete, except for the latest
 * LEFT groups. */
template <int LEFT> [[maybe_unused]] static __device__ inline void cuda_wait_for_copies(void)
{
#    if !defined __CUDA_ARCH__ || __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" : : "n"(LEFT) : "memory");
#    endif
}

template <int OFFSET> static __device__ inline float cuda_load_shared(unsigned at)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1 + %2];" : "=f"(value) : "r"(at), "n"(OFFSET));
    return value;
}

#endif /* GPU_COMPILER */
#endif /* FBP_SRC_BACKEND_CUDA_GPU_RUNTIME_H */
