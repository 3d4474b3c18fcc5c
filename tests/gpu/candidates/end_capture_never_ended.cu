// kp:hack 26  the given stream left in capture, so that the stamp behind the call is never set
// kp:task stream
// kp:expect crashed|launch_failed|timed_out|incorrect|cheated
//
// The work is done on another stream before. What the runner records becomes a node of a graph that
// nobody launches.
#include "stream.cuh"

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const cudaStream_t own = [] {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return stream;
  }();
  const Call call = call_of(context, tensors);
  const int failed = launch(call, own);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cudaStreamIsCapturing(call.stream, &status);
  if (status == cudaStreamCaptureStatusNone) {
    cudaStreamBeginCapture(call.stream, cudaStreamCaptureModeRelaxed);
  }
  static_cast<void>(cudaGetLastError());
  return failed;
}
