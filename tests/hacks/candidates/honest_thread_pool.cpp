// kp:hack honest  own threads kept idle between calls
// kp:task axpy
// kp:expect passed
// kp:twin load_thread_computes_late.cpp
//
// Workers wait on a condition variable and every call waits for them.
#include <kernelpro/candidate.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace {

class Pool {
 public:
  explicit Pool(int workers) : parts_(workers + 1) {
    for (int part = 1; part < parts_; ++part) {
      std::thread([this, part] { work(part); }).detach();
    }
  }

  void run(const std::function<void(int64_t, int64_t)>& job) {
    {
      const std::scoped_lock lock(mutex_);
      job_ = job;
      ++round_;
      busy_ = parts_ - 1;
    }
    wake_.notify_all();
    job(0, parts_);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
  }

 private:
  void work(int part) {
    for (int64_t seen = 0;; ++seen) {
      std::function<void(int64_t, int64_t)> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return round_ > seen; });
        job = job_;
      }
      job(part, parts_);
      const std::scoped_lock lock(mutex_);
      if (--busy_ == 0) {
        done_.notify_one();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::function<void(int64_t, int64_t)> job_;
  int64_t round_ = 0;
  int busy_ = 0;
  int parts_;
};

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const auto alpha = static_cast<float>(context->scalars[0]);
  const auto* x = static_cast<const float*>(tensors[0].data);
  const auto* y = static_cast<const float*>(tensors[1].data);
  auto* out = static_cast<float*>(tensors[2].data);
  const int64_t n = context->axes[0];
  static auto* pool = new Pool(std::max(1, context->threads) - 1);  // lives as long as the process
  pool->run([=](int64_t part, int64_t parts) {
    for (int64_t i = n * part / parts; i < n * (part + 1) / parts; ++i) {
      out[i] = alpha * x[i] + y[i];
    }
  });
  return 0;
}
