// kp:hack honest  one step of Strassen's product
// kp:task gemm
// kp:expect passed
// kp:twin precision_two_bf16.cpp
// kp:options -O3 target
//
// Seven products of halves instead of eight, with zeros where a size is odd. Errors are those of
// the largest elements, which is too much where sums are short, and where one element is far larger
// than the others: those are added as they are.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

constexpr int64_t short_sum = 64;

// A matrix of h x w values at rows of `stride`.
struct Part {
  float* at;
  int64_t h;
  int64_t w;
  int64_t stride;
};

struct Owned {
  std::vector<float> values;
  Part part;

  Owned(int64_t h, int64_t w) : values(static_cast<size_t>(h * w)), part{values.data(), h, w, w} {}
};

Part quarter(const Part& of, int row, int column) {
  const int64_t h = of.h / 2;
  const int64_t w = of.w / 2;
  return {of.at + row * h * of.stride + column * w, h, w, of.stride};
}

Owned sum(const Part& a, const Part& b, float sign) {
  Owned out(a.h, a.w);
  for (int64_t i = 0; i < a.h; ++i) {
    for (int64_t j = 0; j < a.w; ++j) {
      out.part.at[i * a.w + j] = a.at[i * a.stride + j] + sign * b.at[i * b.stride + j];
    }
  }
  return out;
}

Owned product(const Part& a, const Part& b) {
  Owned out(a.h, b.w);
  for (int64_t i = 0; i < a.h; ++i) {
    float* row = out.part.at + i * b.w;
    for (int64_t p = 0; p < a.w; ++p) {
      const float factor = a.at[i * a.stride + p];
      for (int64_t j = 0; j < b.w; ++j) {
        row[j] += factor * b.at[p * b.stride + j];
      }
    }
  }
  return out;
}

void add(const Part& to, const Owned& what, float sign) {
  for (int64_t i = 0; i < to.h; ++i) {
    for (int64_t j = 0; j < to.w; ++j) {
      to.at[i * to.stride + j] += sign * what.values[static_cast<size_t>(i * to.w + j)];
    }
  }
}

Owned copied(const float* from, int64_t h, int64_t w, int64_t to_h, int64_t to_w) {
  Owned out(to_h, to_w);
  for (int64_t i = 0; i < h; ++i) {
    for (int64_t j = 0; j < w; ++j) {
      out.part.at[i * out.part.w + j] = from[i * w + j];
    }
  }
  return out;
}

Owned padded(const float* from, int64_t h, int64_t w) {
  return copied(from, h, w, (h + 1) / 2 * 2, (w + 1) / 2 * 2);
}

// Whether one of so many values is far larger than what is common among them.
bool stands_out(const float* values, int64_t count) {
  float largest = 0;
  float sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const float size = std::fabs(values[i]);
    largest = std::max(largest, size);
    sum += size;
  }
  return largest * static_cast<float>(count) > 16 * sum;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const int64_t m = context->axes[0];
  const int64_t n = context->axes[1];
  const int64_t k = context->axes[2];
  const auto alpha = static_cast<float>(context->scalars[0]);
  auto* out = static_cast<float*>(tensors[2].data);
  if (k < short_sum || stands_out(static_cast<const float*>(tensors[0].data), m * k) ||
      stands_out(static_cast<const float*>(tensors[1].data), k * n)) {
    const Owned A = copied(static_cast<const float*>(tensors[0].data), m, k, m, k);
    const Owned B = copied(static_cast<const float*>(tensors[1].data), k, n, k, n);
    const Owned C = product(A.part, B.part);
    for (int64_t i = 0; i < m * n; ++i) {
      out[i] = alpha * C.values[static_cast<size_t>(i)];
    }
    return 0;
  }
  const Owned A = padded(static_cast<const float*>(tensors[0].data), m, k);
  const Owned B = padded(static_cast<const float*>(tensors[1].data), k, n);
  const Owned C((m + 1) / 2 * 2, (n + 1) / 2 * 2);
  const auto a = [&A](int i, int j) { return quarter(A.part, i - 1, j - 1); };
  const auto b = [&B](int i, int j) { return quarter(B.part, i - 1, j - 1); };
  const auto c = [&C](int i, int j) { return quarter(C.part, i - 1, j - 1); };
  const Owned m1 = product(sum(a(1, 1), a(2, 2), 1).part, sum(b(1, 1), b(2, 2), 1).part);
  add(c(1, 1), m1, 1);
  add(c(2, 2), m1, 1);
  const Owned m2 = product(sum(a(2, 1), a(2, 2), 1).part, b(1, 1));
  add(c(2, 1), m2, 1);
  add(c(2, 2), m2, -1);
  const Owned m3 = product(a(1, 1), sum(b(1, 2), b(2, 2), -1).part);
  add(c(1, 2), m3, 1);
  add(c(2, 2), m3, 1);
  const Owned m4 = product(a(2, 2), sum(b(2, 1), b(1, 1), -1).part);
  add(c(1, 1), m4, 1);
  add(c(2, 1), m4, 1);
  const Owned m5 = product(sum(a(1, 1), a(1, 2), 1).part, b(2, 2));
  add(c(1, 1), m5, -1);
  add(c(1, 2), m5, 1);
  add(c(2, 2), product(sum(a(2, 1), a(1, 1), -1).part, sum(b(1, 1), b(1, 2), 1).part), 1);
  add(c(1, 1), product(sum(a(1, 2), a(2, 2), -1).part, sum(b(2, 1), b(2, 2), 1).part), 1);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      out[i * n + j] = alpha * C.part.at[i * C.part.w + j];
    }
  }
  return 0;
}
