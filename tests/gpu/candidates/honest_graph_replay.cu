// kp:hack honest  a graph of its own for each set, replayed
// kp:task stream
// kp:expect passed
// kp:twin reuse_graph_of_first_call.cu
//
// Keyed by everything that is captured.
#include <map>
#include <tuple>

#include "stream.cuh"

namespace {

cudaGraphExec_t captured(const Call& call) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  cudaStreamBeginCapture(call.stream, cudaStreamCaptureModeThreadLocal);
  launch(call, call.stream);
  cudaStreamEndCapture(call.stream, &graph);
  cudaGraphInstantiate(&replay, graph, 0);
  cudaGraphDestroy(graph);
  return replay;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  using Key = std::tuple<const float*, const float*, float*, int64_t, float, float>;
  static std::map<Key, cudaGraphExec_t> graphs;
  const Call call = call_of(context, tensors);
  cudaGraphExec_t& replay = graphs[{call.x, call.z, call.y, call.n, call.a, call.b}];
  if (replay == nullptr) {
    replay = captured(call);
  }
  return replay == nullptr ? 1 : cudaGraphLaunch(replay, call.stream);
}
