/** @file cpu.h  Which instruction sets may be used (internal). */
#ifndef FBP_SRC_CPU_H
#define FBP_SRC_CPU_H

enum fbp_cpu_flag {
    FBP_CPU_AVX2 = 1u << 0,
    FBP_CPU_AVX512 = 1u << 1,
    FBP_CPU_GATHER = 1u << 2, /**< gathers are quicker than eight loads; changes no bit */
};

/** What the processor has, lowered by FBP_CPU=c|avx2|avx512 (for tests). */
unsigned fbp_cpu_flags(void);

/** Name of the highest set level: "c", "avx2", "avx512". */
const char *fbp_cpu_level(unsigned flags);

/** Bytes of a core's second-level cache; 512 KiB where the system does not say. */
unsigned long fbp_cpu_level2_bytes(void);

/** The processor's own name; "" where the system does not say. */
const char *fbp_cpu_model(char *buf, unsigned long n);

#endif /* FBP_SRC_CPU_H */
