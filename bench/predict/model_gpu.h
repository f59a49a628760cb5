/** @file model_gpu.h  A GPU that is not there, to plan for (internal).
 *
 * It chooses kernels and counts bytes as GPUs do (backend/gpu), and computes nothing.  What the
 * machine around it is like, the plan knows (bench/predict/model.h).
 */
#ifndef FBP_BENCH_PREDICT_MODEL_GPU_H
#define FBP_BENCH_PREDICT_MODEL_GPU_H

#include "backend/backend.h"

extern const struct fbp_backend fbp_backend_model;

#endif /* FBP_BENCH_PREDICT_MODEL_GPU_H */
