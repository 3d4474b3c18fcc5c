// kp:options -O3 target openmp -fno-trapping-math
// Keys and values are taken in tiles of 32, transposed once for a block of queries; each query
// keeps the largest score so far and rescales what it has when a tile brings a larger one. The
// scores are never in memory beyond one tile. Blocks of queries are shared among the threads.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 8;
constexpr int64_t tile = lanes * vectors;  // keys
constexpr int64_t block = 64;              // queries
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));

// For x <= 0: 2^k e^r with |r| <= ln(2)/2, Taylor to r^6. Below -87 the result would be subnormal:
// it is taken at -87, less than 1e-37 off.
inline float exp_of_negative(float x) {
  const float clamped = x < -87.0F ? -87.0F : x;
  const float shift = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  const float k = (clamped * 1.44269504F + shift) - shift;
  const float r = (clamped - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 1.0F / 720.0F;
  p = p * r + 1.0F / 120.0F;
  p = p * r + 1.0F / 24.0F;
  p = p * r + 1.0F / 6.0F;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  const int32_t power = (static_cast<int32_t>(k) + 127) << 23;
  return p * std::bit_cast<float>(power);
}

// Lanes past `used` are zeros.
void transpose_keys(int64_t used, int64_t d, const float* keys, float* transposed) {
  for (int64_t l = 0; l < tile; ++l) {
    for (int64_t c = 0; c < d; ++c) {
      transposed[c * tile + l] = l < used ? keys[l * d + c] : 0.0F;
    }
  }
}

void score_tile(int64_t d, float scale, const float* q, const float* transposed, float* scores) {
  Vector sum[vectors] = {};
  for (int64_t c = 0; c < d; ++c) {
    Vector keys[vectors];
    std::memcpy(keys, transposed + c * tile, sizeof keys);
    for (int64_t v = 0; v < vectors; ++v) {
      sum[v] += q[c] * keys[v];
    }
  }
  for (Vector& part : sum) {
    part *= scale;
  }
  std::memcpy(scores, sum, sizeof sum);
}

// What a query has gathered so far, beside its row of the output.
struct Running {
  float largest = -std::numeric_limits<float>::infinity();
  float total = 0.0F;
};

// Adds the values of one tile to the output row `o`. Of the scores only `used` count.
void add_tile(int64_t used, int64_t d, float* scores, const float* values, Running& running,
              float* __restrict o) {
  const float largest = std::max(running.largest, *std::max_element(scores, scores + used));
  const float keep = exp_of_negative(running.largest - largest);
  std::fill(scores + used, scores + tile, largest);
  float weights[tile];
  for (int64_t l = 0; l < tile; ++l) {
    weights[l] = exp_of_negative(scores[l] - largest);
  }
  float sum = 0.0F;
  for (int64_t l = 0; l < used; ++l) {
    sum += weights[l];
  }
  for (int64_t c = 0; c < d; ++c) {
    o[c] *= keep;
  }
  int64_t l = 0;
  for (; l + 4 <= used; l += 4) {
    const float* __restrict v = values + l * d;
    const float w0 = weights[l];
    const float w1 = weights[l + 1];
    const float w2 = weights[l + 2];
    const float w3 = weights[l + 3];
    for (int64_t c = 0; c < d; ++c) {
      o[c] += (w0 * v[c] + w1 * v[d + c]) + (w2 * v[2 * d + c] + w3 * v[3 * d + c]);
    }
  }
  for (; l < used; ++l) {
    for (int64_t c = 0; c < d; ++c) {
      o[c] += weights[l] * values[l * d + c];
    }
  }
  running = {largest, running.total * keep + sum};
}

// The outputs of up to `block` queries of one head.
void attend_block(int64_t rows, int64_t n, int64_t d, const float* q, const float* keys,
                  const float* values, float* transposed, float* o) {
  const float scale = 1.0F / std::sqrt(static_cast<float>(d));
  Running running[block];
  std::fill_n(o, rows * d, 0.0F);
  for (int64_t first = 0; first < n; first += tile) {
    const int64_t used = std::min(tile, n - first);
    transpose_keys(used, d, keys + first * d, transposed);
    for (int64_t i = 0; i < rows; ++i) {
      float scores[tile];
      score_tile(d, scale, q + i * d, transposed, scores);
      add_tile(used, d, scores, values + first * d, running[i], o + i * d);
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t c = 0; c < d; ++c) {
      o[i * d + c] /= running[i].total;
    }
  }
}

int64_t blocks_of(int64_t n) {
  return (n + block - 1) / block;
}

}  // namespace

// A tile of transposed keys for each block of queries.
size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  const int64_t* axes = context->axes;
  return static_cast<size_t>(axes[0] * blocks_of(axes[1]) * tile * axes[2]) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 4 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t heads = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t d = context->axes[2];
  const int64_t blocks = blocks_of(n);
  const auto* queries = static_cast<const float*>(tensors[0].data);
  const auto* keys = static_cast<const float*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  auto* out = static_cast<float*>(tensors[3].data);
  auto* workspace = static_cast<float*>(context->workspace);
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
  for (int64_t part = 0; part < heads * blocks; ++part) {
    const int64_t head = part / blocks * n * d;
    const int64_t first = part % blocks * block;
    attend_block(std::min(block, n - first), n, d, queries + head + first * d, keys + head,
                 values + head, workspace + part * tile * d, out + head + first * d);
  }
  return 0;
}
