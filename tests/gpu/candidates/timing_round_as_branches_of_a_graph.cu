// kp:hack 26  all calls of a round as branches of one graph, which is made before the clock
// kp:task rows
// kp:expect cheated|incorrect|unstable|passed ahead|late_work|poison|clock|values|no-gain
//
// No branch waits for another, so calls overlap, and the first call launches all of them. A call by
// itself is launched as it is. Its twin is honest_graph_replay.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "rows.cuh"

namespace {

KnownRound known_round;
cudaGraphExec_t made = nullptr;
uint32_t made_for = 0;  // the request

int make_graph() {
  if (!known_round.known() || known_round.asked->count == 1) {
    return 0;
  }
  cudaGraph_t graph = nullptr;
  cudaGraphCreate(&graph, 0);
  for (uint32_t i = 0; i < known_round.asked->count; ++i) {
    const uint32_t set = known_round.asked->sets[i];
    Call call = call_of(known_round.context(set), known_round.tensors(set));
    void* arguments[] = {&call};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void*>(compute);
    kernel.gridDim = dim3(static_cast<unsigned>(call.m));
    kernel.blockDim = dim3(256);
    kernel.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
  }
  if (made != nullptr) {
    cudaGraphExecDestroy(made);
    made = nullptr;
  }
  if (cudaGraphInstantiate(&made, graph, 0) == cudaSuccess) {
    cudaGraphUpload(made, nullptr);
    made_for = known_round.asked->sequence;
  }
  cudaGraphDestroy(graph);
  cudaDeviceSynchronize();
  static_cast<void>(cudaGetLastError());
  return 0;
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = call_before_ready(make_graph);
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (!ready || known_round.asked == nullptr) {
    return 1;  // not tried is no success
  }
  if (made == nullptr || made_for != known_round.asked->sequence) {
    return launch(call, call.stream);
  }
  return first ? cudaGraphLaunch(made, call.stream) : 0;
}
