#include "worker/judge/failure.hpp"

#include <fmt/format.h>

#include <csignal>
#include <cstring>

#include "common/base/cuda_driver.hpp"

namespace kernelpro {

namespace {

constexpr std::size_t shown_output = 2000;

void add_printed(Failure& failure, RunnerProcess& process) {
  const std::string& printed = process.printed();
  if (!printed.empty()) {
    failure.evidence.push_back("it printed: " + printed.substr(0, shown_output));
  }
}

Failure explain_reply(const runner::Reply& reply, const std::string& doing) {
  // Of a status that is none of those below: no honest runner has it.
  Failure failure{Outcome::cheated, "channel", "it answered with a status that does not exist", {}};
  switch (reply.status) {
    case runner::CallStatus::no_symbol:
      failure.outcome = Outcome::launch_failed;
      failure.rule = "load";
      failure.summary = std::string("it does not load: ") + reply.text;
      break;
    case runner::CallStatus::returned_error:
      failure.outcome = Outcome::launch_failed;
      failure.rule = "status";
      failure.summary = fmt::format("it returned {} while {}", reply.code, doing);
      break;
    case runner::CallStatus::out_of_memory:
      failure.outcome = Outcome::out_of_memory;
      failure.rule = "";
      failure.summary = fmt::format("an allocation failed while {}", doing);
      break;
    case runner::CallStatus::exception:
      failure.outcome = Outcome::crashed;
      failure.rule = "exception";
      failure.summary = fmt::format("it threw while {}: {}", doing, reply.text);
      break;
    case runner::CallStatus::device_error:
      failure.outcome = Outcome::crashed;
      failure.rule = reply.code == cuda::illegal_address ? "guard" : "device";
      failure.summary =
          reply.code == cuda::illegal_address
              ? fmt::format("it touched memory that is not its own on the GPU while {}", doing)
              : fmt::format("the GPU reported an error while {}", doing);
      failure.evidence.emplace_back(reply.text);
      break;
    case runner::CallStatus::map_failed:
    case runner::CallStatus::ok:
      failure.outcome = Outcome::out_of_memory;
      failure.rule = "";
      failure.summary = "its buffers, workspace or state do not fit into memory";
      break;
  }
  return failure;
}

// "12 bytes past C" for a fault in the guard pages.
void explain_fault(Failure& failure, const runner::Reply& fault, const BufferPlan* plan) {
  failure.evidence.push_back(fmt::format("fault at address {:#x}", fault.fault_address));
  const auto tensor = static_cast<std::size_t>(fault.fault_tensor);
  if (plan == nullptr || fault.fault_tensor < 0 || tensor >= plan->tensors.size()) {
    return;
  }
  const TensorPlan& hit = plan->tensors[tensor];
  switch (fault.fault_place) {
    case runner::FaultPlace::inside:
      if (!hit.output) {
        failure.rule = "input_write";
        failure.summary = fmt::format("it wrote to input {}, which is read-only", hit.name);
      }
      break;
    case runner::FaultPlace::before:
    case runner::FaultPlace::after:
      failure.rule = "guard";
      failure.summary = fmt::format(
          "it touched memory {} {} (in the guard pages)",
          fault.fault_place == runner::FaultPlace::before ? "before" : "after", hit.name);
      break;
    case runner::FaultPlace::elsewhere:
      break;
  }
}

Failure explain_death(const Exchange& exchange, const std::string& doing, const BufferPlan* plan) {
  Failure failure;
  failure.outcome = Outcome::crashed;
  if (exchange.signal == 0) {
    failure.rule = "exit";
    failure.summary =
        fmt::format("it ended its process (exit code {}) while {}", exchange.exit_code, doing);
    return failure;
  }
  if (exchange.memory_ran_out) {
    failure.outcome = Outcome::out_of_memory;
    failure.summary = fmt::format("the kernel ended it for want of memory while {}", doing);
    return failure;
  }
  failure.rule = "signal";
  failure.summary = fmt::format("it died of signal {} ({}) while {}", exchange.signal,
                                strsignal(exchange.signal), doing);
  if (exchange.fault) {
    explain_fault(failure, *exchange.fault, plan);
  }
  return failure;
}

Failure explain_timeout(const Exchange& exchange, const std::string& doing) {
  Failure failure;
  failure.outcome = Outcome::timed_out;
  failure.rule = exchange.stopped_itself || exchange.unstoppable ? "stopped" : "";
  if (exchange.unstoppable) {
    failure.summary = fmt::format("it could not be stopped after it had answered while {}", doing);
  } else if (exchange.stopped_itself) {
    failure.summary = fmt::format("it stopped itself while {}", doing);
  } else {
    failure.summary = fmt::format("it did not finish in time while {}", doing);
  }
  return failure;
}

}  // namespace

Failure sandbox_failure(const std::vector<std::string>& violations) {
  Failure failure;
  failure.outcome = Outcome::cheated;
  failure.rule = "sandbox";
  failure.summary = "it tried what no kernel needs: " + violations.front();
  for (const std::string& violation : violations) {
    failure.evidence.push_back("refused: " + violation);
  }
  return failure;
}

Failure explain_exchange(const Exchange& exchange, RunnerProcess& process, const std::string& doing,
                         const BufferPlan* plan) {
  if (!process.violations().empty()) {
    return sandbox_failure(process.violations());
  }
  Failure failure;
  switch (exchange.end) {
    case ExchangeEnd::replied:
      failure = explain_reply(exchange.reply, doing);
      break;
    case ExchangeEnd::died:
      failure = explain_death(exchange, doing, plan);
      break;
    case ExchangeEnd::timed_out:
      failure = explain_timeout(exchange, doing);
      break;
    case ExchangeEnd::stopped:
      failure.outcome = Outcome::not_judged;
      failure.summary = "the evaluation was interrupted";
      break;
    case ExchangeEnd::forged:
      failure.outcome = Outcome::cheated;
      failure.rule = "channel";
      failure.summary = "it sent messages in the runner's name";
      break;
    case ExchangeEnd::crowded:
      failure.outcome = Outcome::cheated;
      failure.rule = "threads";
      failure.summary = "it has more threads than any kernel needs";
      break;
  }
  add_printed(failure, process);
  return failure;
}

Error ours_failed(const Failure& failure, const std::string& whose) {
  const bool late = failure.outcome == Outcome::timed_out;
  return make_error(late ? ErrorKind::timeout : ErrorKind::lost, failure.summary, whose);
}

}  // namespace kernelpro
