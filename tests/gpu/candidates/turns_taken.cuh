// Short kernels of a second context, one after the other, each behind a copy to the host: they
// begin when a call is over, its process is stopped and others have their turn, and go on for a
// while. Needs driver.cuh, second_context.cuh and spin.cuh.
namespace {

// What is queued on `stream` so far is over; another context may wait for it.
inline cudaEvent_t end_of(cudaStream_t stream) {
  static cudaEvent_t over = nullptr;
  if (over == nullptr) {
    cudaEventCreateWithFlags(&over, cudaEventDisableTiming);
  }
  cudaEventRecord(over, stream);
  return over;
}

struct KernelsInARow {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  size_t piece = size_t{2} << 20;  // some forty microseconds
  char* there = nullptr;
  char* here = nullptr;
  bool good = false;

  KernelsInARow() {
    context = make_second_context();
    good = in_context(context, [this] {
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      cudaMalloc(&there, piece);
      cudaMallocHost(&here, piece);
    });
    good = good && there != nullptr && here != nullptr;
  }

  // For about so many microseconds, beginning `pause_us` after that event.
  void leave(cudaEvent_t after, double pause_us, double all_us) {
    constexpr double copy_us = 40;
    constexpr double kernel_us = 150;  // the turns that it takes
    in_context(context, [&] {
      if (cudaStreamQuery(stream) != cudaSuccess) {
        return;
      }
      cudaStreamWaitEvent(stream, after, 0);
      for (double at = 0; at < pause_us; at += copy_us) {
        cudaMemcpyAsync(here, there, piece, cudaMemcpyDeviceToHost, stream);
      }
      for (double at = 0; at < all_us; at += copy_us + kernel_us) {
        spin<<<1, 32, 0, stream>>>(2000);
        cudaMemcpyAsync(here, there, piece, cudaMemcpyDeviceToHost, stream);
      }
    });
    static_cast<void>(cudaGetLastError());
  }
};

// How long it is from one single call to the next, in microseconds: who comes first and who second
// takes turns, and the empty candidate is always last.
struct SingleTimes {
  int count = 0;
  double last_us = 0;
  double after_first_us = 0;  // the incumbent, the empty candidate, the incumbent again

  // In each of them; whether the incumbent has the next turn.
  bool note(double now_us) {
    const bool first = count % 2 == 0;
    if (!first && after_first_us == 0) {
      after_first_us = now_us - last_us;
    }
    last_us = now_us;
    ++count;
    return first;
  }
};

}  // namespace
