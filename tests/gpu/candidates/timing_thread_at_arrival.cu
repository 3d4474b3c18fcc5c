// kp:hack 2  a callback at the arrival of the inputs wakes a thread that launches
// kp:task stream
// kp:expect cheated|incorrect|unstable|timed_out|passed ahead|late_work|poison|clock|values|no-gain
//
// The stream waits for the last input word, then calls the host; a thread launches all calls on a
// stream of high priority, beside the worker's sweep and before its word. Its twin is
// honest_high_priority_stream.cu.
#include <atomic>
#include <thread>

#include "driver.cuh"
#include "program.cuh"
#include "program_hook.cuh"
#include "round.cuh"
#include "stream.cuh"
#include "stream_calls.cuh"

namespace {

KnownRound known_round;
cudaStream_t waiting = nullptr;
cudaStream_t urgent = nullptr;
cudaEvent_t done = nullptr;
AllCalls next_calls;
uint32_t next_count = 0;
std::atomic<uint32_t> queued{0};  // the request that is waited for
std::atomic<uint32_t> arrived_at{0};
std::atomic<uint32_t> launched{0};

void launch_at_arrival() {
  uint32_t last = 0;
  for (;;) {
    const uint32_t now = arrived_at.load();
    if (now == last) {
      continue;
    }
    last = now;
    compute_all_as_they_arrive<<<dim3(blocks_for(next_calls.n), next_count), 256, 0, urgent>>>(
        next_calls);
    cudaEventRecord(done, urgent);
    launched = now;
  }
}

void on_arrival(void*) {
  arrived_at = queued.load();
}

int queue_callback() {
  if (urgent == nullptr || !known_round.known() ||
      !wait_until_given(waiting, last_word(known_round))) {
    return 0;
  }
  next_calls = all_calls(known_round);
  next_count = known_round.asked->count;
  queued = known_round.asked->sequence;
  cudaLaunchHostFunc(waiting, on_arrival, nullptr);
  return 0;
}

bool set_up() {
  int least = 0;
  int most = 0;
  cudaDeviceGetStreamPriorityRange(&least, &most);
  cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking);
  cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, most);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  new std::thread(launch_at_arrival);
  return call_before_ready(queue_callback);
}

}  // namespace

extern "C" size_t kp_workspace(const kp_context*, const kp_tensor*, int32_t) {
  known_round.forget();
  return 0;
}

extern "C" int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  static const bool ready = set_up();
  const Call call = call_of(context, tensors);
  const bool first = known_round.note(context);
  if (!ready || !known_round.known() || queued != known_round.asked->sequence) {
    static int missed = 0;
    return !ready || ++missed > 500 ? 1 : launch(call, call.stream);  // not tried is no success
  }
  if (!first) {
    return 0;
  }
  while (launched != known_round.asked->sequence) {
  }
  return cudaStreamWaitEvent(call.stream, done, 0);
}
