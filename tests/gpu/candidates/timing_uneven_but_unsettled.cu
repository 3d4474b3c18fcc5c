// kp:hack 32  every fourth round takes eight times as long, and all have labels to ask about
// kp:task nearest
// kp:expect incorrect|unstable|passed values|poison|no-gain
//
// The median sees the fast rounds. The rule of averages looks at settled rounds alone, those
// that no question to the reference came before: the last of equally small values is as right as
// the first, and some of the two hundred sets of a round have such a pair. So no round is settled.
// On average it is slower than the baseline. Its twin is honest_nearest_last_of_ties.cu.
#include <chrono>

#include "nearest.cuh"

namespace {

constexpr int width = 64;

// Sixteen lanes and one load of four values for each row; four rows a thread.
__global__ void search_wide(Call call) {
  const int64_t first = (blockIdx.x * int64_t{256} + threadIdx.x) / 16 * 4;
  const int lane = static_cast<int>(threadIdx.x % 16);
  float4 rows[4];
  for (int r = 0; r < 4; ++r) {
    const int64_t row = first + r < call.n ? first + r : call.n - 1;
    rows[r] = reinterpret_cast<const float4*>(call.values + row * width)[lane];
  }
  for (int r = 0; r < 4; ++r) {
    const float values[4] = {rows[r].x, rows[r].y, rows[r].z, rows[r].w};
    float best = values[0];
    int label = 4 * lane;
    for (int j = 1; j < 4; ++j) {
      if (values[j] <= best) {
        best = values[j];
        label = 4 * lane + j;
      }
    }
    for (int offset = 8; offset > 0; offset /= 2) {
      const float other = __shfl_down_sync(~0U, best, offset, 16);
      const int other_label = __shfl_down_sync(~0U, label, offset, 16);
      if (other < best || (other == best && other_label > label)) {
        best = other;
        label = other_label;
      }
    }
    if (lane == 0 && first + r < call.n) {
      call.labels[first + r] = label;
    }
  }
}

// Calls of a round follow each other at once; the judge works between two rounds.
int round_number() {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point last;
  static int rounds = -1;
  rounds += Clock::now() - last > std::chrono::microseconds(500) ? 1 : 0;
  last = Clock::now();
  return rounds;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  constexpr int first_rounds = 4;  // a check and the screen
  const Call call = call_of(context, tensors);
  if (call.k != width || call.n < 100000) {
    return launch(call, call.stream);
  }
  const int round = round_number();
  const bool slow = round >= first_rounds && round % 4 == 1;
  for (int i = 0; i < (slow ? 8 : 1); ++i) {
    search_wide<<<static_cast<unsigned>((call.n + 63) / 64), 256, 0, call.stream>>>(call);
  }
  return cudaGetLastError() != cudaSuccess;
}
