// kp:options -O3 target
// Single-threaded: a tile of points is transposed into vector lanes, so that one vector holds one
// dimension of `lanes` points; four centroids at a time share each load of it, and the smallest
// distance is kept lane by lane.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernelpro/candidate.h"

namespace {

constexpr int64_t lanes = 4;
constexpr int64_t vectors = 4;
constexpr int64_t tile = lanes * vectors;
constexpr int64_t share = 4;
using Vector = float __attribute__((vector_size(lanes * sizeof(float))));
using Labels = int32_t __attribute__((vector_size(lanes * sizeof(int32_t))));

// Lanes past the last point repeat it.
void transpose_points(int64_t used, int64_t d, const float* points, float* transposed) {
  for (int64_t l = 0; l < tile; ++l) {
    const float* point = points + std::min(l, used - 1) * d;
    for (int64_t j = 0; j < d; ++j) {
      transposed[j * tile + l] = point[j];
    }
  }
}

struct Best {
  Vector distance[vectors];
  Labels label[vectors];
};

void improve(Best& best, int32_t label, const Vector* distance) {
  const Labels labels = Labels{} + label;
  for (int v = 0; v < vectors; ++v) {
    const Labels nearer = distance[v] < best.distance[v];
    best.distance[v] = nearer ? distance[v] : best.distance[v];
    best.label[v] = nearer ? labels : best.label[v];
  }
}

// Distances of the tile to `Count` centroids from `first` on.
template <int64_t Count>
void visit(int64_t first, int64_t d, const float* centroids, const float* transposed, Best& best) {
  Vector sum[Count][vectors] = {};
  for (int64_t j = 0; j < d; ++j) {
    Vector points[vectors];
    std::memcpy(points, transposed + j * tile, sizeof points);
    for (int64_t c = 0; c < Count; ++c) {
      const float coordinate = centroids[(first + c) * d + j];
      for (int v = 0; v < vectors; ++v) {
        const Vector difference = points[v] - coordinate;
        sum[c][v] += difference * difference;
      }
    }
  }
  for (int64_t c = 0; c < Count; ++c) {
    improve(best, static_cast<int32_t>(first + c), sum[c]);
  }
}

void assign_tile(int64_t used, int64_t k, int64_t d, const float* centroids,
                 const float* transposed, int32_t* labels) {
  Best best = {};
  for (Vector& distance : best.distance) {
    distance = Vector{} + __builtin_inff();
  }
  int64_t c = 0;
  for (; c + share <= k; c += share) {
    visit<share>(c, d, centroids, transposed, best);
  }
  for (; c < k; ++c) {
    visit<1>(c, d, centroids, transposed, best);
  }
  int32_t line[tile];
  std::memcpy(line, best.label, sizeof line);
  std::copy_n(line, used, labels);
}

}  // namespace

size_t kp_workspace(const kp_context* context, const kp_tensor* /*tensors*/, int32_t /*count*/) {
  return static_cast<size_t>(tile * context->axes[2]) * sizeof(float);
}

int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t count) {
  if (count != 3 || context->workspace_bytes < kp_workspace(context, tensors, count)) {
    return 1;
  }
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  auto* transposed = static_cast<float*>(context->workspace);
  for (int64_t i = 0; i < n; i += tile) {
    const int64_t used = std::min(tile, n - i);
    transpose_points(used, d, points + i * d, transposed);
    assign_tile(used, k, d, centroids, transposed, labels + i);
  }
  return 0;
}
