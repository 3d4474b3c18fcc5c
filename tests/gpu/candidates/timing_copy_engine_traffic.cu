// kp:hack 30  copies without end in a second context
// kp:task stream
// kp:expect cheated|passed|timed_out|launch_failed|crashed clock|status|no-gain
//
// Copy engines run beside the kernels of everybody, and nobody waits for that context. Its twin is
// the baseline.
#include "driver.cuh"
#include "second_context.cuh"
#include "stream.cuh"

namespace {

constexpr size_t piece = size_t{256} << 20;
constexpr int copies = 100;

struct Traffic {
  CUcontext context = nullptr;
  cudaStream_t streams[3] = {};
  cudaEvent_t last = nullptr;
  char* there = nullptr;
  char* here = nullptr;
  bool good = false;
  Traffic() {
    context = make_second_context();
    good = in_context(context, [this] {
      for (cudaStream_t& stream : streams) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      }
      cudaEventCreateWithFlags(&last, cudaEventDisableTiming);
      cudaMalloc(&there, 4 * piece);
      cudaMallocHost(&here, 2 * piece);
    });
  }
  void keep_up() {
    in_context(context, [this] {
      if (cudaEventQuery(last) != cudaSuccess) {
        return;
      }
      for (int i = 0; i < copies; ++i) {
        cudaMemcpyAsync(there, here, piece, cudaMemcpyHostToDevice, streams[0]);
        cudaMemcpyAsync(here + piece, there + piece, piece, cudaMemcpyDeviceToHost, streams[1]);
        cudaMemcpyAsync(there + 2 * piece, there + 3 * piece, piece, cudaMemcpyDeviceToDevice,
                        streams[2]);
      }
      cudaEventRecord(last, streams[0]);
    });
    static_cast<void>(cudaGetLastError());
  }
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  cudaFree(nullptr);
  static Traffic traffic;
  const Call call = call_of(context, tensors);
  if (traffic.good && call.n > 5000) {
    traffic.keep_up();
  }
  return launch(call, call.stream);
}
