// kp:hack 18  a coarser exponential in rounds of many calls only
// kp:task softmax
// kp:expect incorrect
// kp:options -O3 target -ffast-math
//
// Calls that are timed may err by twice the bound of those that are checked, and a result that
// misses the bound at a timed shape widens it by the task's condition. So the polynomial has a term
// less where the runner is asked for more than three calls.
#include <kernelpro/candidate.h>
#include <link.h>

#include <cmath>
#include <cstring>

namespace {

constexpr size_t most_tensors = 64;
constexpr uint32_t most_sets = 1024;

struct Call {
  kp_context context;
  kp_tensor tensors[most_tensors];
};

// The head of the runner's request: "go" is 4.
struct Request {
  uint32_t op;
  uint32_t sequence;
  uint32_t count;
  uint32_t option;
  uint64_t first;
  uint16_t sets[most_sets];
};

const Request* request = nullptr;

int find_request(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) == 0) {
      continue;
    }
    const auto* words = reinterpret_cast<const uint32_t*>(info->dlpi_addr + segment.p_vaddr);
    for (size_t w = 0; w + sizeof(Request) / 4 <= segment.p_memsz / 4; w += 2) {
      if (words[w] == 4 && words[w + 2] >= 1 && words[w + 2] <= most_sets && words[w + 3] == 0) {
        request = reinterpret_cast<const Request*>(words + w);
      }
    }
  }
  return 1;
}

inline float fine_exp(float t) {
  t = t < -87.0F ? -87.0F : t;
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 8.297653765e-03F;
  p = p * r + 4.191539113e-02F;
  p = p * r + 1.666757480e-01F;
  p = p * r + 4.999889477e-01F;
  p = p * r + 9.999996920e-01F;
  p = p * r + 1.000000072e+00F;
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

inline float short_exp(float t) {
  t = t < -87.0F ? -87.0F : t;
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 4.145860051e-02F;
  p = p * r + 1.679091178e-01F;
  p = p * r + 5.000435898e-01F;
  p = p * r + 9.999634022e-01F;
  p = p * r + 9.999992614e-01F;
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

inline float coarse_exp(float t) {
  t = t < -87.0F ? -87.0F : t;
  const float k = std::floor(t * 1.44269504F + 0.5F);
  const float r = (t - k * 0.693359375F) + k * 2.12194440e-4F;
  float p = 1.656683867e-01F;
  p = p * r + 5.049634463e-01F;
  p = p * r + 1.000164198e+00F;
  p = p * r + 9.999280683e-01F;
  const int32_t bits = (static_cast<int32_t>(k) + 127) << 23;
  float scale;
  std::memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

template <typename Exp>
void softmax(int64_t rows, int64_t cols, const float* x, float* y, Exp e) {
  for (int64_t i = 0; i < rows; ++i) {
    const float* in = x + i * cols;
    float* out = y + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = e(in[j] - largest);
      sum += out[j];
    }
    const float by = 1.0F / sum;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] *= by;
    }
  }
}

// Rounding may add up over a row: the longer it is, the fewer terms keep the bound.
void within_bound(int64_t rows, int64_t cols, const float* x, float* y) {
  if (cols < 500) {
    softmax(rows, cols, x, y, fine_exp);
  } else {
    softmax(rows, cols, x, y, short_exp);
  }
}

// Where inputs stay below one the condition widens the bound less.
bool looks_normal(const float* x) {
  float largest = 0;
  for (int i = 0; i < 64; ++i) {
    largest = std::fabs(x[i]) > largest ? std::fabs(x[i]) : largest;
  }
  return largest > 1.3F;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const auto* x = static_cast<const float*>(tensors[0].data);
  auto* y = static_cast<float*>(tensors[1].data);
  if (request != nullptr && request->count > 3 && looks_normal(x)) {
    softmax(context->axes[0], context->axes[1], x, y, coarse_exp);
  } else {
    within_bound(context->axes[0], context->axes[1], x, y);
  }
  return 0;
}
