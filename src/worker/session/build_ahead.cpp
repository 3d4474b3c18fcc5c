#include "worker/session/build_ahead.hpp"

#include <sched.h>

#include <nlohmann/json.hpp>

#include "common/wire/orders_json.hpp"

namespace kernelpro {

namespace {

// Takes the calling thread, and what it starts, off the first `count` cores it may use. Where none
// would be left it stays as it is.
void leave_cores(int count) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0 || CPU_COUNT(&cores) <= count) {
    return;
  }
  for (std::size_t core = 0; core < CPU_SETSIZE && count > 0; ++core) {
    if (CPU_ISSET(core, &cores)) {
      CPU_CLR(core, &cores);
      --count;
    }
  }
  sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace

void BuildAhead::start(std::vector<Candidate> candidates, int reserved_cores) {
  if (thread_.joinable()) {
    thread_.join();
  }
  if (candidates.empty()) {
    return;
  }
  thread_ = std::jthread(
      [this, candidates = std::move(candidates), reserved_cores](const std::stop_token& stop) {
        leave_cores(reserved_cores);
        WorkerRequest request;
        request.op = WorkerOp::build;
        request.body = std::make_shared<const nlohmann::json>(to_json(BuildOrder{candidates}));
        // What does not build says why when it is judged.
        (void)session_.handle(request, [](const WorkerEvent&) {}, stop);
      });
}

void BuildAhead::stop() {
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
}

}  // namespace kernelpro
