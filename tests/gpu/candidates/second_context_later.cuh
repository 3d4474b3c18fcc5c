// Work of a second context that begins when its process is stopped and others have their turn:
// behind a copy to the host, which runs on an engine of its own. Needs driver.cuh and
// second_context.cuh.
namespace {

struct LeftBehind {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  size_t bytes = 0;  // a mebibyte takes about 20 us
  char* there = nullptr;
  char* here = nullptr;
  bool good = false;

  explicit LeftBehind(size_t mebibytes) : bytes(mebibytes << 20) {
    context = make_second_context();
    good = in_context(context, [this] {
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      cudaMalloc(&there, bytes);
      cudaMallocHost(&here, bytes);
    });
    good = good && there != nullptr && here != nullptr;
  }

  // Queues work(stream) there unless the last is still under way.
  template <typename Work>
  void leave(Work work) {
    in_context(context, [&] {
      if (cudaStreamQuery(stream) == cudaSuccess) {
        cudaMemcpyAsync(here, there, bytes, cudaMemcpyDeviceToHost, stream);
        work(stream);
      }
    });
    static_cast<void>(cudaGetLastError());
  }
};

}  // namespace
