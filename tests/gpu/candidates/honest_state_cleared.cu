// kp:hack honest  counters in a state that kp_prepare has cleared
// kp:task rows
// kp:expect passed
// kp:twin memory_state_taken_to_be_zero.cu
//
// Nothing of the constants is in it.
#include "rows.cuh"
#include "split_rows.cuh"

extern "C" int kp_prepare(const kp_context* context, const kp_tensor*, int32_t) {
  return cudaMemsetAsync(context->state, 0, counter_bytes(context),
                         static_cast<cudaStream_t>(context->stream)) != cudaSuccess;
}
