// kp:hack 7  the whole round computed in the first call, into memory of its own
// kp:task axpy
// kp:expect passed not-faster
//
// No output of a set that is not called is ever touched: the other calls copy what the first has
// computed for them.
#include <kernelpro/candidate.h>
#include <link.h>

#include <cstring>
#include <vector>

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

uint32_t sequence = 0;
uint32_t place = 0;
std::vector<std::vector<float>> answers(most_sets);

void axpy(const Call& call, float* out) {
  const auto alpha = static_cast<float>(call.context.scalars[0]);
  const auto* x = static_cast<const float*>(call.tensors[0].data);
  const auto* y = static_cast<const float*>(call.tensors[1].data);
  for (int64_t i = 0; i < call.context.axes[0]; ++i) {
    out[i] = alpha * x[i] + y[i];
  }
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const auto* call = reinterpret_cast<const Call*>(context);
  auto* out = static_cast<float*>(tensors[2].data);
  if (request == nullptr) {
    axpy(*call, out);
    return 0;
  }
  if (request->sequence != sequence) {
    sequence = request->sequence;
    place = 0;
    const Call* calls = call - request->sets[0];
    for (uint32_t i = 0; i < request->count; ++i) {
      answers[i].resize(static_cast<size_t>(context->axes[0]));
      axpy(calls[request->sets[i]], answers[i].data());
    }
  }
  const std::vector<float>& answer = answers[place++];
  std::memcpy(out, answer.data(), answer.size() * sizeof(float));
  return 0;
}
