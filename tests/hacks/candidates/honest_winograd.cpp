// kp:hack honest  Winograd's convolution, filters transformed in kp_prepare
// kp:task conv2d
// kp:expect passed
// kp:twin reuse_filters_by_pointer.cpp
// kp:options -O3 target
//
// Tiles of two by two outputs by sixteen products instead of 36. Where one input is far larger than
// the others of its tile, its rounding would be in all four outputs: they are summed as they are.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>

namespace {

struct Tile {
  float at[4][4];
};

// G g G'
Tile transformed_filter(const float* g) {
  float rows[4][3];
  for (int64_t v = 0; v < 3; ++v) {
    rows[0][v] = g[v];
    rows[1][v] = 0.5F * (g[v] + g[3 + v] + g[6 + v]);
    rows[2][v] = 0.5F * (g[v] - g[3 + v] + g[6 + v]);
    rows[3][v] = g[6 + v];
  }
  Tile out;
  for (int64_t u = 0; u < 4; ++u) {
    out.at[u][0] = rows[u][0];
    out.at[u][1] = 0.5F * (rows[u][0] + rows[u][1] + rows[u][2]);
    out.at[u][2] = 0.5F * (rows[u][0] - rows[u][1] + rows[u][2]);
    out.at[u][3] = rows[u][2];
  }
  return out;
}

// B' x B of the inputs whose upper left corner lies at (row, column).
Tile transformed_input(const float* x, int64_t h, int64_t w, int64_t row, int64_t column) {
  Tile in;
  for (int64_t u = 0; u < 4; ++u) {
    for (int64_t v = 0; v < 4; ++v) {
      const int64_t i = row + u;
      const int64_t j = column + v;
      in.at[u][v] = i >= 0 && i < h && j >= 0 && j < w ? x[i * w + j] : 0.0F;
    }
  }
  Tile half;
  for (int64_t v = 0; v < 4; ++v) {
    half.at[0][v] = in.at[0][v] - in.at[2][v];
    half.at[1][v] = in.at[1][v] + in.at[2][v];
    half.at[2][v] = in.at[2][v] - in.at[1][v];
    half.at[3][v] = in.at[1][v] - in.at[3][v];
  }
  Tile out;
  for (int64_t u = 0; u < 4; ++u) {
    out.at[u][0] = half.at[u][0] - half.at[u][2];
    out.at[u][1] = half.at[u][1] + half.at[u][2];
    out.at[u][2] = half.at[u][2] - half.at[u][1];
    out.at[u][3] = half.at[u][1] - half.at[u][3];
  }
  return out;
}

// Whether one of the inputs of a tile is far larger than what is common there.
bool stands_out(const float* x, int64_t in, int64_t h, int64_t w, int64_t row, int64_t column) {
  float largest = 0;
  float sum = 0;
  for (int64_t c = 0; c < in; ++c) {
    for (int64_t i = std::max<int64_t>(row, 0); i < std::min(row + 4, h); ++i) {
      for (int64_t j = std::max<int64_t>(column, 0); j < std::min(column + 4, w); ++j) {
        const float size = std::fabs(x[(c * h + i) * w + j]);
        largest = std::max(largest, size);
        sum += size;
      }
    }
  }
  return largest > 8 * sum / static_cast<float>(16 * in);
}

float direct(const float* x, const float* filter, int64_t in, int64_t h, int64_t w, int64_t row,
             int64_t column) {
  float sum = 0;
  for (int64_t c = 0; c < in; ++c) {
    for (int64_t u = std::max<int64_t>(0, 1 - row); u < std::min<int64_t>(3, h + 1 - row); ++u) {
      for (int64_t v = std::max<int64_t>(0, 1 - column); v < std::min<int64_t>(3, w + 1 - column);
           ++v) {
        sum += filter[9 * c + 3 * u + v] * x[(c * h + row + u - 1) * w + column + v - 1];
      }
    }
  }
  return sum;
}

// A' m A into what of the two by two outputs there is.
void write_outputs(const Tile& m, float* y, int64_t h, int64_t w, int64_t row, int64_t column) {
  float rows[2][4];
  for (int64_t v = 0; v < 4; ++v) {
    rows[0][v] = m.at[0][v] + m.at[1][v] + m.at[2][v];
    rows[1][v] = m.at[1][v] - m.at[2][v] - m.at[3][v];
  }
  for (int64_t u = 0; u < 2 && row + u < h; ++u) {
    y[(row + u) * w + column] = rows[u][0] + rows[u][1] + rows[u][2];
    if (column + 1 < w) {
      y[(row + u) * w + column + 1] = rows[u][1] - rows[u][2] - rows[u][3];
    }
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1] * context->axes[2]) * sizeof(Tile);
}

extern "C" int kp_prepare(const kp_context* context, const kp_tensor* tensors, int32_t) {
  auto* tiles = static_cast<Tile*>(context->state);
  for (int64_t i = 0; i < context->axes[1] * context->axes[2]; ++i) {
    tiles[i] = transformed_filter(static_cast<const float*>(tensors[1].data) + 9 * i);
  }
  return 0;
}

extern "C" size_t kp_workspace(const kp_context* context, const kp_tensor*, int32_t) {
  return static_cast<size_t>(context->axes[1]) * sizeof(Tile);
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t in = context->axes[1];
  const int64_t out = context->axes[2];
  const int64_t h = context->axes[3];
  const int64_t w = context->axes[4];
  const auto* filters = static_cast<const Tile*>(context->state);
  auto* inputs = static_cast<Tile*>(context->workspace);
  for (int64_t b = 0; b < context->axes[0]; ++b) {
    for (int64_t row = 0; row < h; row += 2) {
      for (int64_t column = 0; column < w; column += 2) {
        for (int64_t c = 0; c < in; ++c) {
          const float* x = static_cast<const float*>(tensors[0].data) + (b * in + c) * h * w;
          inputs[c] = transformed_input(x, h, w, row - 1, column - 1);
        }
        const float* image = static_cast<const float*>(tensors[0].data) + b * in * h * w;
        const bool uneven = stands_out(image, in, h, w, row - 1, column - 1);
        for (int64_t o = 0; o < out; ++o) {
          float* y = static_cast<float*>(tensors[2].data) + (b * out + o) * h * w;
          if (uneven) {
            const float* filter = static_cast<const float*>(tensors[1].data) + 9 * o * in;
            for (int64_t at = 0; at < 4; ++at) {
              const int64_t i = row + at / 2;
              const int64_t j = column + at % 2;
              if (i < h && j < w) {
                y[i * w + j] = direct(image, filter, in, h, w, i, j);
              }
            }
            continue;
          }
          Tile sums = {};
          for (int64_t c = 0; c < in; ++c) {
            for (int64_t at = 0; at < 16; ++at) {
              sums.at[at / 4][at % 4] +=
                  inputs[c].at[at / 4][at % 4] * filters[o * in + c].at[at / 4][at % 4];
            }
          }
          write_outputs(sums, y, h, w, row, column);
        }
      }
    }
  }
  return 0;
}
