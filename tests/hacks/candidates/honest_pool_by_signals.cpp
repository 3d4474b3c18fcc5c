// kp:hack honest  a pool whose thread waits in sigwait and is woken by pthread_kill
// kp:task axpy
// kp:expect passed
// kp:twin end_queues_continue.cpp
// kp:options -O3 target -pthread
//
// Signals between its own threads, as some runtimes wake theirs.
#include <kernelpro/candidate.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>

namespace {

struct Job {
  float alpha;
  const float* x;
  const float* y;
  float* out;
  int64_t from;
  int64_t to;
};

Job job;
std::atomic<int> done = 0;
pthread_t helper;

void work(const Job& part) {
  for (int64_t i = part.from; i < part.to; ++i) {
    part.out[i] = part.alpha * part.x[i] + part.y[i];
  }
}

sigset_t wake_up() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return set;
}

void* help(void*) {
  const sigset_t set = wake_up();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) == 0) {
      work(job);
      done.store(1, std::memory_order_release);
      done.notify_one();
    }
  }
}

bool start() {
  const sigset_t set = wake_up();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &set, &before);
  const bool started = pthread_create(&helper, nullptr, help, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool helped = context->threads > 1 && start();
  const int64_t n = context->axes[0];
  const int64_t split = helped && n > 10000 ? n / 2 : n;
  Job own = {static_cast<float>(context->scalars[0]),
             static_cast<const float*>(tensors[0].data),
             static_cast<const float*>(tensors[1].data),
             static_cast<float*>(tensors[2].data),
             0,
             split};
  if (split < n) {
    job = own;
    job.from = split;
    job.to = n;
    done = 0;
    pthread_kill(helper, SIGUSR1);
  }
  work(own);
  if (split < n) {
    done.wait(0, std::memory_order_acquire);
  }
  return 0;
}
