// A call by itself in a second context that waits at the gate by itself, and writes the word behind
// it by itself. The given stream, which writes that word as well, waits for the call. Needs the
// header of a task, driver.cuh, program.cuh, program_gate.cuh, round.cuh and second_context.cuh.
namespace {

struct Elsewhere {
  CUcontext context = nullptr;
  cudaStream_t stream = nullptr;
  uint32_t* done = nullptr;  // the number of the gate whose call is over
  bool good = false;

  Elsewhere() {
    cudaMalloc(&done, 256);
    cudaMemset(done, 0, 256);
    cudaDeviceSynchronize();
    context = make_second_context();
    good = done != nullptr && in_context(context, [this] {
             cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
           });
    good = good && stream != nullptr;
  }

  // 0: queued.
  int launch_at(uint32_t* gate, uint32_t number, const Call& call) {
    using MemoryOperation = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
    static const auto wait = driver_function<MemoryOperation>("cuStreamWaitValue32_v2");
    static const auto write = driver_function<MemoryOperation>("cuStreamWriteValue32_v2");
    const auto over = reinterpret_cast<CUdeviceptr>(done);
    int failed = 1;
    in_context(context, [&] {
      const bool waits = wait(stream, reinterpret_cast<CUdeviceptr>(opened_word(gate)), number,
                              CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
      failed = waits ? launch(call, stream) : 1;
      write(stream, over, number, 0);
      write(stream, reinterpret_cast<CUdeviceptr>(passed_word(gate)), number, 0);
    });
    return wait(call.stream, over, number, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS ? failed : 1;
  }
};

}  // namespace
