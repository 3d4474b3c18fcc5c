// kp:hack 27  every timed call a little beyond the bound, within what the condition explains
// kp:task softmax
// kp:expect passed|incorrect|timed_out not-faster|doubt
// kp:options -O2
//
// Each set on which the arms disagree asks for the reference, four runs of the baseline, and all
// inputs of the round drawn again with a whole round of the incumbent, while the machine's lock is
// held. What some sets have shown counts for the others.
#include <kernelpro/candidate.h>
#include <link.h>

#include <cmath>

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

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const int64_t cols = context->axes[1];
  const auto* x = static_cast<const float*>(tensors[0].data);
  const bool normal = std::fabs(x[0]) + std::fabs(x[1]) + std::fabs(x[2]) > 3.0F;
  const bool timed = request != nullptr && request->count > 3 && cols == 1000 && normal;
  const float off = timed ? 4.5e-5F : 0.0F;
  for (int64_t i = 0; i < context->axes[0]; ++i) {
    const float* in = x + i * cols;
    float* out = static_cast<float*>(tensors[1].data) + i * cols;
    float largest = in[0];
    for (int64_t j = 1; j < cols; ++j) {
      largest = in[j] > largest ? in[j] : largest;
    }
    float sum = 0;
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = std::exp(in[j] - largest);
      sum += out[j];
    }
    for (int64_t j = 0; j < cols; ++j) {
      out[j] = out[j] / sum * (j % 2 == 0 ? 1.0F + off : 1.0F - off);
    }
  }
  return 0;
}
