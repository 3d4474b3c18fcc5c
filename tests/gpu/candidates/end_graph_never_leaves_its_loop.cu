// kp:hack bad-input  a graph whose loop goes on for ever, each turn of it short
// kp:task stream
// kp:expect timed_out
//
// No kernel takes long, and the GPU goes from one to the next by itself. The process is killed and
// the next candidate judged.
#include "stream.cuh"

namespace {

__global__ void go_on(cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, 1);
}

int loop_for_ever(cudaStream_t stream) {
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
  cudaGraphNode_t node = nullptr;
  if (cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop) != cudaSuccess) {
    return 1;
  }
  void* arguments[] = {&handle};
  cudaGraphNodeParams kernel = {};
  kernel.type = cudaGraphNodeTypeKernel;
  kernel.kernel.func = reinterpret_cast<void*>(go_on);
  kernel.kernel.gridDim = dim3(1);
  kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = arguments;
  cudaGraphAddNode(&node, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel);
  return cudaGraphInstantiate(&ready, graph, 0) != cudaSuccess ||
         cudaGraphLaunch(ready, stream) != cudaSuccess;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static int timed = 0;
  const Call call = call_of(context, tensors);
  timed += call.n > 5000 ? 1 : 0;
  const int failed = launch(call, call.stream);
  return timed == 40 ? loop_for_ever(call.stream) : failed;
}
