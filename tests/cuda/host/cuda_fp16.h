/* fp16 is in cuda_host.h (tests). */
