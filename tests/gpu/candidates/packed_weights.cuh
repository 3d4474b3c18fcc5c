// Weights kept as whole numbers of 16 + low_bits bits, with one scale for each row; where they are
// not as normal values are, which kp_prepare sees, they are read in full. Needs rows.cuh and
// low_bits.
namespace {

constexpr int code_bits = 16 + low_bits;
constexpr int half_range = 1 << (code_bits - 1);

struct Packed {
  uint16_t* high;
  uint8_t* low;   // of eight weights together
  float* scales;  // of the rows
  int* unfit;     // rows that are not as normal values are
};

inline bool packs(const kp_context* context) {
  return context->axes[1] > 1500 && context->axes[1] % 256 == 0;
}

inline Packed packed_in(const kp_context* context) {
  const int64_t all = context->axes[0] * context->axes[1];
  auto* at = static_cast<char*>(context->state);
  Packed packed = {};
  packed.high = reinterpret_cast<uint16_t*>(at);
  at += all * 2;
  packed.low = reinterpret_cast<uint8_t*>(at);
  at += all / 8 * low_bits;
  packed.scales = reinterpret_cast<float*>(at);
  packed.unfit = reinterpret_cast<int*>(packed.scales + context->axes[0]);
  return packed;
}

inline size_t packed_bytes(const kp_context* context) {
  const int64_t all = context->axes[0] * context->axes[1];
  return packs(context) ? all * 2 + all / 8 * low_bits + context->axes[0] * 4 + 4 : 4;
}

__global__ void pack(Call call, Packed packed) {
  __shared__ float largest_of[256];
  const float* row = call.weights + int64_t{blockIdx.x} * call.k;
  float largest = 0;
  float squares = 0;
  for (int j = static_cast<int>(threadIdx.x); j < call.k; j += 256) {
    largest = fmaxf(largest, fabsf(row[j]));
    squares += row[j] * row[j];
  }
  largest_of[threadIdx.x] = largest;
  const float sum = block_sum(squares);
  for (int i = 0; i < 256; ++i) {
    largest = fmaxf(largest, largest_of[i]);
  }
  const float rms = sqrtf(sum / static_cast<float>(call.k));
  const bool fit = largest > 2.5F * rms && largest < 6.0F * rms && rms > 0.5F && rms < 2.0F;
  const float scale = largest / static_cast<float>(half_range - 1);
  if (threadIdx.x == 0) {
    packed.scales[blockIdx.x] = scale;
    if (!fit) {
      atomicAdd(packed.unfit, 1);
    }
  }
  for (int j = static_cast<int>(threadIdx.x) * 8; j < call.k; j += 256 * 8) {
    const int64_t at = int64_t{blockIdx.x} * call.k + j;
    unsigned low = 0;
    for (int i = 0; i < 8; ++i) {
      const float code =
          fminf(fmaxf(rintf(row[j + i] / scale), 1.0F - half_range), half_range - 1.0F);
      const auto bits = static_cast<unsigned>(static_cast<int>(code) + half_range);
      packed.high[at + i] = static_cast<uint16_t>(bits >> low_bits);
      low |= (bits & ((1U << low_bits) - 1)) << (low_bits * i);
    }
    for (int i = 0; i < low_bits; ++i) {
      packed.low[at / 8 * low_bits + i] = static_cast<uint8_t>(low >> (8 * i));
    }
  }
}

// The whole number that its upper and lower bits stand for: exact, and without a conversion.
__device__ inline float whole(unsigned high, unsigned low) {
  constexpr unsigned two_to_23 = 0x4b000000U;
  return __uint_as_float(two_to_23 | high << low_bits | (low & ((1U << low_bits) - 1))) -
         (8388608.0F + static_cast<float>(half_range));
}

__device__ inline unsigned low_of(const uint8_t* low, int64_t eight) {
  if constexpr (low_bits == 4) {
    return reinterpret_cast<const unsigned*>(low)[eight];
  } else {
    return reinterpret_cast<const uint16_t*>(low)[eight];
  }
}

// One warp for each row.
__global__ void multiply(Call call, Packed packed) {
  const int row = static_cast<int>(blockIdx.x * 4 + threadIdx.x / 32);
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (row >= call.m) {
    return;
  }
  const int64_t first = int64_t{row} * call.k;
  const bool full = *packed.unfit != 0;
  float sum = 0;
  if (full) {
    for (int j = lane; j < call.k; j += 32) {
      sum += call.weights[first + j] * call.x[j];
    }
  } else {
    const auto* x = reinterpret_cast<const float4*>(call.x);
#pragma unroll 8
    for (int j = lane; j < call.k / 8; j += 32) {
      const uint4 h = reinterpret_cast<const uint4*>(packed.high)[first / 8 + j];
      const unsigned l = low_of(packed.low, first / 8 + j);
      const float4 a = x[2 * j];
      const float4 b = x[2 * j + 1];
      sum += whole(h.x & 0xffffU, l) * a.x + whole(h.x >> 16, l >> low_bits) * a.y;
      sum +=
          whole(h.y & 0xffffU, l >> 2 * low_bits) * a.z + whole(h.y >> 16, l >> 3 * low_bits) * a.w;
      sum +=
          whole(h.z & 0xffffU, l >> 4 * low_bits) * b.x + whole(h.z >> 16, l >> 5 * low_bits) * b.y;
      sum +=
          whole(h.w & 0xffffU, l >> 6 * low_bits) * b.z + whole(h.w >> 16, l >> 7 * low_bits) * b.w;
    }
    sum *= packed.scales[row];
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    sum += __shfl_down_sync(~0U, sum, offset);
  }
  if (lane == 0) {
    call.y[row] = sum;
  }
}

inline int prepare_packed(const kp_context* context, const Call& call) {
  if (packs(context)) {
    const Packed packed = packed_in(context);
    cudaMemsetAsync(packed.unfit, 0, sizeof(int), call.stream);
    pack<<<call.m, 256, 0, call.stream>>>(call, packed);
  }
  return cudaGetLastError() != cudaSuccess;
}

inline int launch_packed(const kp_context* context, const Call& call) {
  if (!packs(context)) {
    return launch(call, call.stream);
  }
  multiply<<<(call.m + 3) / 4, 128, 0, call.stream>>>(call, packed_in(context));
  return cudaGetLastError() != cudaSuccess;
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return packed_bytes(context);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  return prepare_packed(context, call_of(context, tensors));
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  return launch_packed(context, call_of(context, tensors));
}
