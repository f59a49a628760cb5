/** @file model_gpu.h  The backend of a GPU that is only described (internal).  Used by predict.c.
 *
 * It chooses kernels and counts bytes as real GPUs do (backend/gpu), and computes nothing.  The
 * rates of the machine come from bench/predict/model.h.
 */
#ifndef FBP_BENCH_PREDICT_MODEL_GPU_H
#define FBP_BENCH_PREDICT_MODEL_GPU_H

#include "backend/backend.h"

extern const struct fbp_backend fbp_backend_model;

#endif /* FBP_BENCH_PREDICT_MODEL_GPU_H */
