#include "worker/judge/arm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "common/base/clock.hpp"
#include "worker/oracle/torch.hpp"

namespace kernelpro {

Result<Arm> Arm::start(Ground& ground, const JudgeSettings& settings, const BuildOutcome& build,
                       bool may_link, std::size_t buffer_bytes, bool tracing) {
  KP_LET(StagedLibrary library, StagedLibrary::copy(build.library));
  const std::string path = library.path().string();
  if (!build.torch_mode.empty()) {
    return start_torch(ground, settings, build.torch_mode, std::move(library));
  }
  const std::optional<RunnerSettings> runner =
      tracing ? ground.tracing_runner(settings, path, may_link, buffer_bytes)
              : ground.runner(settings, path, may_link, buffer_bytes);
  if (!runner) {
    return make_error(ErrorKind::environment,
                      "no CUPTI was found beside the CUDA toolkit; KERNELPRO_CUPTI can name it");
  }
  KP_LET(RunnerProcess process, RunnerProcess::start(*runner));
  return Arm(ground, std::move(process), std::move(library), settings.threads, tracing);
}

Result<Arm> Arm::start_torch(Ground& ground, const JudgeSettings& settings, const std::string& mode,
                             StagedLibrary library) {
  TorchSettings torch;
  torch.jail = settings.jail;
  torch.script = settings.torch;
  torch.device = ground.device();
  torch.threads = settings.threads;
  torch.warm = settings.warm;
  torch.stop = settings.stop;
  KP_LET(const RunnerSettings runner, torch_runner(torch, mode));
  KP_LET(RunnerProcess process, RunnerProcess::start(runner));
  Arm arm(ground, std::move(process), std::move(library), settings.threads, false);
  arm.trusted_ = true;
  return arm;
}

Result<runner::Trace> Arm::trace(std::uint16_t set, std::int64_t timeout_ms) {
  if (workspace_) {
    workspace_->poison(poison_byte);
  }
  runner::Request request{};
  request.op = runner::Op::trace;
  request.count = 1;
  request.sets[0] = set;
  Exchange answer;
  if (const auto failure = ask(request, {}, timeout_ms, "being traced", answer)) {
    return make_error(ErrorKind::lost, failure->summary);
  }
  if (answer.reply.trace.launches == 0) {
    return make_error(ErrorKind::lost, "CUPTI saw no kernel");
  }
  return answer.reply.trace;
}

std::optional<Failure> Arm::ask(runner::Request& request, const std::vector<int>& fds,
                                std::int64_t timeout_ms, const std::string& doing, Exchange& out) {
  out = wait_for(request, fds, timeout_ms);
  return explain(out, doing);
}

Exchange Arm::wait_for(runner::Request& request, const std::vector<int>& fds,
                       std::int64_t timeout_ms) {
  if (allowance_ == nullptr) {
    return process_.exchange(request, fds, timeout_ms);
  }
  const std::int64_t start = now_ns();
  Exchange answer = process_.exchange(request, fds, allowance_->cut(timeout_ms));
  allowance_->take(static_cast<double>(now_ns() - start), static_cast<double>(answer.delay_ns));
  return answer;
}

std::optional<Failure> Arm::explain(const Exchange& exchange, const std::string& doing) {
  const bool came = exchange.end == ExchangeEnd::replied || exchange.end == ExchangeEnd::timed_out;
  if (allowance_ != nullptr && came && allowance_->spent() && process_.violations().empty()) {
    end();
    return allowance_->failure();
  }
  const bool good =
      exchange.end == ExchangeEnd::replied && exchange.reply.status == runner::CallStatus::ok;
  if (good && (tracing_ || process_.violations().empty())) {
    return std::nullopt;
  }
  return explain_exchange(exchange, process_, doing, plan_ ? &*plan_ : nullptr);
}

std::optional<Failure> Arm::load(std::int64_t timeout_ms) {
  runner::Request request{};
  request.op = runner::Op::load;
  std::strncpy(request.path, library_.path().c_str(), sizeof request.path - 1);
  Exchange loaded;
  std::optional<Failure> failure = ask(request, {}, timeout_ms, "being loaded", loaded);
  implementation_ = loaded.reply.text;
  return failure;
}

std::optional<Failure> Arm::lend(std::vector<int>& descriptors, std::int64_t timeout_ms) {
  constexpr std::ptrdiff_t most = runner::max_descriptors;
  while (std::ssize(descriptors) > most) {
    runner::Request request{};
    request.op = runner::Op::lend;
    Exchange lent;
    const std::vector<int> first(descriptors.begin(), descriptors.begin() + most);
    if (auto failure = ask(request, first, timeout_ms, "its buffers were mapped", lent)) {
      return failure;
    }
    descriptors.erase(descriptors.begin(), descriptors.begin() + most);
  }
  return std::nullopt;
}

std::optional<Failure> Arm::attach(const BufferPlan& plan, SetMemory& memory, Side side,
                                   std::int64_t timeout_ms) {
  const bool mapped = mapped_ == memory.id() && side_ == side && process_.alive();
  mapped_ = 0;
  plan_ = plan;
  memory_ = &memory;
  side_ = side;
  runner::Request request{};
  request.op = runner::Op::shape;
  request.layout = runner_layout(plan, threads_);
  request.layout.guard_bytes = ground_->units().page;
  Exchange answer;
  if (auto failure = ask(request, {}, timeout_ms, "being asked for its workspace", answer)) {
    return failure;
  }
  has_prepare_ = answer.reply.has_prepare != 0;
  const std::uint64_t state_bytes =
      has_prepare_ ? std::max<std::uint64_t>(answer.reply.state_bytes, 1) : 0;
  const bool same_needs =
      answer.reply.workspace_bytes == workspace_bytes_ && state_bytes == state_bytes_;
  workspace_bytes_ = answer.reply.workspace_bytes;
  state_bytes_ = state_bytes;
  std::optional<Failure> failure;
  if (mapped && same_needs) {
    request.op = runner::Op::rescale;
    failure = ask(request, {}, timeout_ms, "its scalars were set", answer);
  } else {
    failure = map(request, timeout_ms);
  }
  mapped_ = failure ? 0 : memory.id();
  return failure;
}

std::optional<Failure> Arm::map(runner::Request& request, std::int64_t timeout_ms) {
  std::vector<int> descriptors = memory_->descriptors(side_);
  workspace_.reset();
  if (workspace_bytes_ > 0) {
    constexpr std::uint64_t sane_bytes = 1ULL << 40;
    Result<std::unique_ptr<Scratch>> workspace =
        memory_->make_scratch(std::min(workspace_bytes_, sane_bytes));
    if (workspace_bytes_ > sane_bytes || !workspace) {
      return Failure{
          Outcome::out_of_memory, "",
          "it asked for a workspace of " + std::to_string(workspace_bytes_) + " bytes a call",
          workspace ? std::vector<std::string>{}
                    : std::vector<std::string>{workspace.error().text()}};
    }
    workspace_ = std::move(*workspace);
    workspace_->describe(request.layout);
    const std::vector<int> more = workspace_->descriptors();
    descriptors.insert(descriptors.end(), more.begin(), more.end());
  }
  if (const Gate* const gate = mapped_gate()) {
    descriptors.push_back(gate->descriptor());
    request.layout.gate_bytes = gate->bytes();
  }
  if (auto failure = lend(descriptors, timeout_ms)) {
    return failure;
  }
  request.op = runner::Op::attach;
  request.option = ground_->device().empty() ? 0 : 1;
  request.layout.state_bytes = state_bytes_;
  Exchange answer;
  return ask(request, descriptors, timeout_ms, "its buffers were mapped", answer);
}

std::optional<Failure> Arm::prepare(std::int64_t timeout_ms) {
  if (!has_prepare_) {
    return std::nullopt;
  }
  runner::Request request{};
  request.op = runner::Op::prepare;
  Exchange prepared;
  auto failure = ask(request, {}, timeout_ms, "preparing its constants", prepared);
  prepare_ns_ = static_cast<double>(prepared.wall_ns) / plan_->sets;
  return failure;
}

Round Arm::run(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms, Caches caches) {
  memory_->make_ready(side_, caches);
  Round round =
      call(sets, timeout_ms,
           {[&] { memory_->give(side_, caches); }, [&] { memory_->take(side_, sets); }, nullptr});
  round.wall_ns -= trusted_ ? 0 : memory_->own_ns(side_);
  return round;
}

std::optional<Round> Arm::run_single(std::uint16_t set, std::int64_t timeout_ms, Caches caches) {
  Gate* const gate = this->gate();
  if (gate == nullptr) {
    return run({set}, timeout_ms, caches);
  }
  memory_->make_ready(side_, caches);
  bool opened = false;
  Round round = call({set}, timeout_ms,
                     {[&] {
                        if (!ungated_) {
                          opened = true;
                          gate->open(caches);
                        }
                      },
                      [] {},
                      [&] {
                        ungated_ = true;
                        gate->open_blindly();
                      }},
                     gate->close());
  if (opened) {
    leave(*gate, round);
  }
  round.gated = true;
  return ungated_ && !round.failure ? std::nullopt : std::optional(std::move(round));
}

// What keeps its gate from ever being passed ends with its process.
void Arm::leave(Gate& gate, Round& round) {
  const std::optional<double> passed_ns = round.failure ? std::nullopt : gate.pass();
  if (passed_ns) {
    round.wall_ns = *passed_ns;
    return;
  }
  end();
  gate.abandon();
  if (!round.failure) {
    round.failure = Failure{
        Outcome::timed_out, "", "it said that a call had ended, and the GPU never came to it", {}};
  }
}

Round Arm::repeat(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms) {
  return call(sets, timeout_ms, {[] {}, [this] { memory_->take(side_, {}); }, nullptr});
}

// More processor time than so many threads can have used, in this call or in all so far: the count
// is a rule and no advice. What a call may use beyond it, starting and stopping, is not there in
// every one. What a call leaves unused is none that another may use: a check may take long for
// nothing.
std::optional<Failure> Arm::check_threads(const Exchange& answer) {
  constexpr double slack = 1.1;
  constexpr double slack_of_all = 1.03;
  constexpr double slack_ns = 2e6;
  constexpr double slack_of_all_ns = 5e6;
  const auto used_ns = static_cast<double>(answer.used_ns);
  const auto wall_ns = static_cast<double>(answer.wall_ns);
  const bool too_much = used_ns > slack * threads_ * wall_ns + slack_ns;
  const double beyond_ns = used_ns - slack_of_all * threads_ * wall_ns;
  if (beyond_ns > 0) {
    beyond_ns_ += beyond_ns;
    beyond_used_ns_ += used_ns;
    beyond_wall_ns_ += wall_ns;
  }
  const bool too_much_in_all = beyond_ns_ > slack_of_all_ns;
  if (!too_much && !too_much_in_all) {
    return std::nullopt;
  }
  return Failure{Outcome::cheated,
                 "threads",
                 "it used more threads than it was given",
                 {fmt::format("{:.0f} us of processor time in {:.0f} us{} with {} thread{}",
                              (too_much ? used_ns : beyond_used_ns_) / 1000,
                              (too_much ? wall_ns : beyond_wall_ns_) / 1000,
                              too_much ? "" : " over all its calls that went beyond", threads_,
                              threads_ == 1 ? "" : "s")}};
}

double overuse(const Exchange& answer, int threads) {
  const auto given_ns = static_cast<double>(threads * std::max<std::int64_t>(answer.wall_ns, 1));
  return std::max(static_cast<double>(answer.used_ns) / given_ns, 1.0);
}

// Who asks for much of it keeps us busy with it.
void Arm::clear_workspace() {
  if (!workspace_) {
    return;
  }
  const std::int64_t start = now_ns();
  workspace_->poison(unwritten_);
  if (allowance_ != nullptr) {
    allowance_->take(static_cast<double>(now_ns() - start), 0);
  }
}

Round Arm::call(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms,
                const RunnerProcess::HandOver& around, std::uint32_t gate) {
  clear_workspace();
  runner::Request request{};
  request.op = runner::Op::go;
  request.gate = gate;
  request.count = static_cast<std::uint32_t>(sets.size());
  std::copy(sets.begin(), sets.end(), request.sets);
  Round round;
  const Exchange answer = ground_->enqueues() ? process_.hand_over(request, around, timeout_ms)
                                              : wait_for(request, {}, timeout_ms);
  round.failure = explain(answer, "computing");
  round.claim_ns = static_cast<double>(answer.reply.claim_ns);
  // What PyTorch does between its calls, copying its outputs to where they belong, is not theirs.
  round.wall_ns = trusted_ ? round.claim_ns : static_cast<double>(answer.wall_ns);
  round.trusted = trusted_;
  if (!trusted_ && !ground_->enqueues()) {
    const double more = overuse(answer, threads_);
    round.claim_ns *= more;
    round.wall_ns *= more;
  }
  round.delay_ns = static_cast<double>(answer.delay_ns + answer.our_delay_ns);
  round.busy_ns = static_cast<double>(answer.delay_ns);
  round.others_ns = static_cast<double>(answer.others_delay_ns);
  round.used_ns = static_cast<double>(answer.used_ns);
  if (!round.failure && !trusted_ && !ground_->enqueues()) {
    round.failure = check_threads(answer);
  }
  const std::int64_t most_bytes = trusted_ ? 0 : ground_->most_resident_bytes();
  if (!round.failure && most_bytes > 0 && process_.resident_bytes() > most_bytes) {
    round.failure =
        Failure{Outcome::out_of_memory,
                "",
                fmt::format("it holds over {} MiB of the host's memory", most_bytes >> 20),
                {}};
  }
  if (!round.failure && workspace_ && !workspace_->intact()) {
    round.failure = Failure{Outcome::incorrect, "guard", "it wrote outside its workspace", {}};
  }
  if (!round.failure && answer.reply.calls != sets.size()) {
    round.failure = Failure{Outcome::cheated, "channel", "it claims a wrong number of calls", {}};
  }
  return round;
}

}  // namespace kernelpro
