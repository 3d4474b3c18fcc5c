// kp:hack 34  threads left by kp_prepare that wait for the vector
// kp:task spmv
// kp:expect passed|cheated|crashed not-faster|threads|signal
// kp:options -O2 -pthread
//
// kp_prepare sees poison in place of the vector. It leaves a thread that looks until the poison of
// each set is gone and multiplies at once, before the runner has read its request; the launch
// copies what is finished. A thread that still looks while buffers of another shape are mapped
// dies.
#include <kernelpro/candidate.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <thread>
#include <vector>

namespace {

void spmv(const kp_tensor* tensors, const float* x, float* y) {
  const auto* row_ptr = static_cast<const int32_t*>(tensors[0].data);
  const auto* columns = static_cast<const int32_t*>(tensors[1].data);
  const auto* values = static_cast<const float*>(tensors[2].data);
  for (int64_t i = 0; i < tensors[4].shape[0]; ++i) {
    float sum = 0.0F;
    for (int32_t p = row_ptr[i]; p < row_ptr[i + 1]; ++p) {
      sum += values[p] * x[columns[p]];
    }
    y[i] = sum;
  }
}

struct Job {
  const kp_tensor* tensors = nullptr;
  std::vector<float> product;
  std::atomic<int> step{0};  // 0: idle, 1: waits for the vector, 2: under way, 3: finished
};

std::map<const void*, std::unique_ptr<Job>> jobs;
std::atomic<Job*> newest{nullptr};
bool started = false;

void look() {
  for (;;) {
    Job* job = newest;
    int waiting = 1;
    if (job == nullptr || job->step != waiting) {
      std::this_thread::yield();
      continue;
    }
    const auto* x = static_cast<const volatile uint32_t*>(job->tensors[3].data);
    if (x[0] != UINT32_MAX && job->step.compare_exchange_strong(waiting, 2)) {
      spmv(job->tensors, static_cast<const float*>(job->tensors[3].data), job->product.data());
      job->step = 3;
    }
  }
}

}  // namespace

extern "C" size_t kp_state(const kp_context*, const kp_tensor*, int32_t) {
  return 64;
}

extern "C" int kp_prepare(const kp_context*, const kp_tensor* tensors, int32_t) {
  std::unique_ptr<Job>& job = jobs[tensors[4].data];
  if (job == nullptr) {
    job = std::make_unique<Job>();
  }
  while (job->step == 2) {
  }
  job->tensors = tensors;
  job->product.resize(static_cast<size_t>(tensors[4].shape[0]));
  job->step = 1;
  newest = job.get();
  if (!started) {
    started = true;
    std::thread(look).detach();
  }
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static_cast<void>(context);
  auto* y = static_cast<float*>(tensors[4].data);
  Job* job = jobs[tensors[4].data].get();
  int waiting = 1;
  if (job == nullptr || job->step.compare_exchange_strong(waiting, 0) || job->step == 0) {
    spmv(tensors, static_cast<const float*>(tensors[3].data), y);
    return 0;
  }
  while (job->step != 3) {
  }
  std::memcpy(y, job->product.data(), job->product.size() * sizeof(float));
  job->step = 0;
  return 0;
}
