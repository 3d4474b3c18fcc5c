/* The contract between KernelPro and a candidate: plain C, versioned.
 *
 * A candidate is a shared object that exports kp_launch and, if it wants them, kp_workspace,
 * kp_state and kp_prepare. It is loaded into a sandboxed process: no files, no network, no other
 * processes. What depends on shapes, pointers or the device may live between calls; what depends
 * on values may not, and the judge tests that.
 */
#ifndef KERNELPRO_CANDIDATE_H
#define KERNELPRO_CANDIDATE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KP_ABI_VERSION 1

/* Type codes and device types have DLPack's values. */
enum { KP_INT = 0, KP_UINT = 1, KP_FLOAT = 2, KP_BFLOAT = 4 };
enum { KP_CPU = 1, KP_CUDA = 2 };

typedef struct kp_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes; /* always 1 */
} kp_dtype;

typedef struct kp_tensor {
  void* data; /* 64-byte aligned; inputs are mapped read-only */
  kp_dtype dtype;
  int32_t rank;
  const int64_t* shape;
  const int64_t* strides; /* in elements */
} kp_tensor;

typedef struct kp_context {
  uint32_t abi_version;
  int32_t device_type; /* KP_CPU or KP_CUDA */
  int32_t device_id;
  int32_t threads; /* how many threads the candidate may use */
  void* stream;    /* CUDA stream, NULL on a CPU */
  void* workspace; /* kp_workspace bytes, 64-byte aligned, poisoned before each call */
  size_t workspace_bytes;
  void* state; /* what kp_prepare filled, NULL without kp_state */
  size_t state_bytes;
  const double* scalars; /* the task's scalars, in the task's order */
  int32_t scalar_count;
  const int64_t* axes; /* the task's axes, in the task's order */
  int32_t axis_count;
} kp_context;

#if defined(_WIN32)
#define KP_EXPORT
#else
#define KP_EXPORT __attribute__((visibility("default")))
#endif

/* Computes the outputs. Tensors are the task's inputs, then its outputs, in the task's order.
 * 0 means done (on CUDA: enqueued on the stream); anything else is a failed launch. Required. */
KP_EXPORT int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count);

/* Bytes of scratch memory wanted for these shapes. Optional. */
KP_EXPORT size_t kp_workspace(const kp_context* context, const kp_tensor* tensors, int32_t count);

/* Bytes of prepared state wanted for these shapes. Optional, together with kp_prepare. */
KP_EXPORT size_t kp_state(const kp_context* context, const kp_tensor* tensors, int32_t count);

/* Fills context->state from the inputs that the task calls constant; only those may be read. Called
 * again whenever they change; its cost is reported apart from the launch. Optional. */
KP_EXPORT int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t count);

/* Names the implementation that runs, for library comparators ("OpenBLAS 0.3.21 NEOVERSEV1").
 * Optional. */
KP_EXPORT const char* kp_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
