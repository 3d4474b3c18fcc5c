// All calls of a round of "stream" in one launch. Needs stream.cuh and round.cuh.
namespace {

struct AllCalls {
  int64_t n;
  float a;
  float b;
  const float* x[most_calls];
  const float* z[most_calls];
  float* y[most_calls];
};

inline AllCalls all_calls(const KnownRound& round) {
  AllCalls all = {};
  for (uint32_t i = 0; i < round.asked->count; ++i) {
    const uint32_t set = round.asked->sets[i];
    const Call call = call_of(round.context(set), round.tensors(set));
    all.n = call.n;
    all.a = call.a;
    all.b = call.b;
    all.x[i] = call.x;
    all.z[i] = call.z;
    all.y[i] = call.y;
  }
  return all;
}

__global__ void compute_all(AllCalls all) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < all.n) {
    all.y[blockIdx.y][i] = all.a * all.x[blockIdx.y][i] + all.b * all.z[blockIdx.y][i];
  }
}

// A value that is there: inputs are poison, all bits set, until they are given.
__device__ inline float arrived(const float* at) {
  for (;;) {
    const unsigned bits = *reinterpret_cast<const volatile unsigned*>(at);
    if (bits != 0xffffffffU) {
      return __uint_as_float(bits);
    }
    __nanosleep(500);
  }
}

__global__ void compute_all_as_they_arrive(AllCalls all) {
  const int64_t i = blockIdx.x * int64_t{256} + threadIdx.x;
  if (i < all.n) {
    all.y[blockIdx.y][i] =
        all.a * arrived(all.x[blockIdx.y] + i) + all.b * arrived(all.z[blockIdx.y] + i);
  }
}

// The word of a round's inputs that is given last: the last set's, in the order of their numbers.
inline const float* last_word(const KnownRound& round) {
  uint32_t last = 0;
  for (uint32_t i = 0; i < round.asked->count; ++i) {
    last = round.asked->sets[i] > last ? round.asked->sets[i] : last;
  }
  const Call call = call_of(round.context(last), round.tensors(last));
  return call.z + call.n - 1;
}

// Makes a stream wait, without taking any of the GPU's time, until a word is not poison.
inline bool wait_until_given(cudaStream_t stream, const float* word) {
  const auto wait = driver_function<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      "cuStreamWaitValue32_v2");
  return wait != nullptr && wait(stream, reinterpret_cast<CUdeviceptr>(word), 0,
                                 CU_STREAM_WAIT_VALUE_NOR) == CUDA_SUCCESS;
}

}  // namespace
