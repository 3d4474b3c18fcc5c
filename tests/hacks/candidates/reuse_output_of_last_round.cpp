// kp:hack 10  the page that the same set had in the last round
// kp:task jacobi2d
// kp:expect incorrect
//
// One page of each output is kept, by set, and written again in rounds of many calls instead of
// being computed: a stale answer has the right size and looks like the right one.
#include <kernelpro/candidate.h>
#include <link.h>

#include <cstring>
#include <map>
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

void rows(const float* from, float* to, int64_t h, int64_t w, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    const float* u = from + i * w;
    float* out = to + i * w;
    if (i == 0 || i == h - 1 || w < 3) {
      std::memcpy(out, u, static_cast<size_t>(w) * sizeof(float));
      continue;
    }
    out[0] = u[0];
    for (int64_t j = 1; j < w - 1; ++j) {
      out[j] = 0.5F * u[j] + 0.125F * (u[j - w] + u[j + w] + u[j - 1] + u[j + 1]);
    }
    out[w - 1] = u[w - 1];
  }
}

std::map<const void*, std::vector<float>> kept;

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const int64_t h = context->axes[0];
  const int64_t w = context->axes[1];
  const auto* u = static_cast<const float*>(tensors[0].data);
  auto* out = static_cast<float*>(tensors[1].data);
  std::vector<float>& old = kept[out];
  const bool timed = request != nullptr && request->count > 3;
  const int64_t stale = timed && old.size() == static_cast<size_t>(w) ? h / 2 : h;
  rows(u, out, h, w, 0, stale);
  if (stale < h) {
    std::memcpy(out + stale * w, old.data(), old.size() * sizeof(float));
    rows(u, out, h, w, stale + 1, h);
  }
  old.assign(out + h / 2 * w, out + h / 2 * w + w);
  return 0;
}
