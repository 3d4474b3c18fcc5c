// kp:hack honest  a graph of sixteen nodes side by side for each set
// kp:task stream
// kp:expect passed
// kp:twin timing_graph_conditional_wait.cu
//
// Built by hand, kept by everything that it depends on, launched on the given stream.
#include <map>
#include <tuple>

#include "stream.cuh"

namespace {

constexpr int64_t nodes = 16;

__global__ void compute_part(Call call, int64_t first, int64_t end) {
  const int64_t i = first + blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < end) {
    call.y[i] = call.a * call.x[i] + call.b * call.z[i];
  }
}

cudaGraphExec_t graph_of(Call call) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t ready = nullptr;
  cudaGraphCreate(&graph, 0);
  const int64_t part = (call.n + nodes - 1) / nodes;
  for (int64_t first = 0; first < call.n; first += part) {
    int64_t begin = first;
    int64_t end = first + part < call.n ? first + part : call.n;
    void* arguments[] = {&call, &begin, &end};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void*>(compute_part);
    kernel.gridDim = dim3(blocks_for(end - begin));
    kernel.blockDim = dim3(256);
    kernel.kernelParams = arguments;
    cudaGraphNode_t node = nullptr;
    cudaGraphAddKernelNode(&node, graph, nullptr, 0, &kernel);
  }
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphDestroy(graph);
  return ready;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Key = std::tuple<const float*, const float*, float*, int64_t, float, float>;
  static std::map<Key, cudaGraphExec_t> graphs;
  const Call call = call_of(context, tensors);
  cudaGraphExec_t& ready = graphs[{call.x, call.z, call.y, call.n, call.a, call.b}];
  if (ready == nullptr) {
    ready = graph_of(call);
  }
  return ready == nullptr ? 1 : cudaGraphLaunch(ready, call.stream);
}
