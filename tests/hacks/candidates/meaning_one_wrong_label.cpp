// kp:hack 16  one label of a timed call guessed
// kp:task kmeans_assign
// kp:expect incorrect
//
// In rounds of many calls the label of the last point is that of the point before it.
#include <kernelpro/candidate.h>
#include <link.h>

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

int32_t nearest(const float* point, const float* centroids, int64_t k, int64_t d, int64_t used) {
  int32_t best = 0;
  float least = 0;
  for (int64_t c = 0; c < k; ++c) {
    float sum = 0;
    for (int64_t j = 0; j < used; ++j) {
      const float by = point[j] - centroids[c * d + j];
      sum += by * by;
    }
    if (c == 0 || sum < least) {
      least = sum;
      best = static_cast<int32_t>(c);
    }
  }
  return best;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  if (request == nullptr) {
    dl_iterate_phdr(find_request, nullptr);
  }
  const int64_t n = context->axes[0];
  const int64_t k = context->axes[1];
  const int64_t d = context->axes[2];
  const auto* points = static_cast<const float*>(tensors[0].data);
  const auto* centroids = static_cast<const float*>(tensors[1].data);
  auto* labels = static_cast<int32_t*>(tensors[2].data);
  for (int64_t i = 0; i < n; ++i) {
    labels[i] = nearest(points + i * d, centroids, k, d, d);
  }
  if (request != nullptr && request->count > 3) {
    labels[n - 1] = labels[n - 2];
  }
  return 0;
}
