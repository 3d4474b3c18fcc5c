// kp:hack 34  a graph with a conditional node, launched before the clock, that loops on an input
// kp:task stream
// kp:expect cheated|crashed|incorrect|timed_out|passed ahead|device|late_work|poison|clock|values|no-gain
//
// One thread looks at the last input word again and again; the loop ends when it is no longer
// poison, and the graph goes on with the round's work. Its twin is honest_graph_many_nodes.cu.
#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"
#include "stream_calls.cuh"

namespace {

KnownRound known_round;
cudaStream_t own = nullptr;
cudaEvent_t done = nullptr;
uint32_t queued = 0;

__global__ void look(cudaGraphConditionalHandle handle, const float* word) {
  __nanosleep(2000);
  const unsigned bits = *reinterpret_cast<const volatile unsigned*>(word);
  cudaGraphSetConditional(handle, bits == 0xffffffffU ? 1U : 0U);
}

cudaGraphExec_t graph_of_round() {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaGraphConditionalHandle handle = 0;
  cudaGraphCreate(&graph, 0);
  cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault);
  cudaGraphNodeParams loop = {};
  loop.type = cudaGraphNodeTypeConditional;
  loop.conditional.handle = handle;
  loop.conditional.type = cudaGraphCondTypeWhile;
  loop.conditional.size = 1;
  cudaGraphNode_t looping = nullptr;
  if (cudaGraphAddNode(&looping, graph, nullptr, nullptr, 0, &loop) != cudaSuccess) {
    cudaGraphDestroy(graph);
    return nullptr;
  }
  const float* word = last_word(known_round);
  void* look_arguments[] = {&handle, &word};
  cudaGraphNodeParams kernel = {};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(look);
  kernel.kernel.gridDim = dim3(1);
  kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = look_arguments;
  cudaGraphNode_t node = nullptr;
  cudaGraphAddNode(&node, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel);
  AllCalls all = all_calls(known_round);
  void* work_arguments[] = {&all};
  kernel.kernel.func = reinterpret_cast<void*>(compute_all_as_they_arrive);
  kernel.kernel.gridDim = dim3(blocks_for(all.n), known_round.asked->count);
  kernel.kernel.blockDim = dim3(256);
  kernel.kernel.kernelParams = work_arguments;
  cudaGraphAddNode(&node, graph, &looping, nullptr, 1, &kernel);
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphDestroy(graph);
  return ready;
}

int queue_all() {
  static cudaGraphExec_t last = nullptr;
  if (own == nullptr || !known_round.known()) {
    return 0;
  }
  if (last != nullptr) {
    cudaGraphExecDestroy(last);
  }
  last = graph_of_round();
  if (last != nullptr && cudaGraphLaunch(last, own) == cudaSuccess) {
    cudaEventRecord(done, own);
    queued = known_round.asked->sequence;
  }
  static_cast<void>(cudaGetLastError());
  return 0;
}

bool set_up() {
  cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  return call_before_ready(queue_all);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (!ready || !known_round.known() || queued != known_round.asked->sequence) {
    static int missed = 0;
    return !ready || ++missed > 500 ? 1 : launch(call, call.stream);  // not tried is no success
  }
  return first ? cudaStreamWaitEvent(call.stream, done, 0) : 0;
}
