// kp:hack 26  a graph of the first call replayed for all
// kp:task stream
// kp:expect crashed|incorrect|cheated|launch_failed
//
// The captured pointers are those of one set.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static cudaGraphExec_t replay = nullptr;
  const Call call = call_of(context, tensors);
  if (replay == nullptr) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(call.stream, cudaStreamCaptureModeThreadLocal);
    launch(call, call.stream);
    cudaStreamEndCapture(call.stream, &graph);
    cudaGraphInstantiate(&replay, graph, 0);
  }
  return cudaGraphLaunch(replay, call.stream);
}
