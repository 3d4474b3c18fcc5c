// All calls of a round of "rows" in one value. Needs rows.cuh and round.cuh.
namespace {

struct AllCalls {
  int m;
  int k;
  uint32_t count;
  const float* weights[most_calls];
  const float* x[most_calls];
  float* y[most_calls];
};

inline AllCalls all_calls(const KnownRound& round) {
  AllCalls all = {};
  all.count = round.asked->count;
  for (uint32_t i = 0; i < all.count; ++i) {
    const uint32_t set = round.asked->sets[i];
    const Call call = call_of(round.context(set), round.tensors(set));
    all.m = call.m;
    all.k = call.k;
    all.weights[i] = call.weights;
    all.x[i] = call.x;
    all.y[i] = call.y;
  }
  return all;
}

__device__ inline void compute_row_of(const AllCalls& all, uint32_t at, int row) {
  const float* weights = all.weights[at] + int64_t{row} * all.k;
  float mine = 0;
  for (int j = static_cast<int>(threadIdx.x); j < all.k; j += 256) {
    mine += weights[j] * all.x[at][j];
  }
  const float sum = block_sum(mine);
  if (threadIdx.x == 0) {
    all.y[at][row] = sum;
  }
}

}  // namespace
