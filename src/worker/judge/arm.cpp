#include "worker/judge/arm.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace kernelpro {

namespace {

constexpr std::int64_t gibibyte = 1LL << 30;

// Room for the buffers, their guards and prepared state, for what the candidate allocates itself,
// and for what each thread reserves (a stack, and an arena of the C library).
std::int64_t memory_limit(const JudgeSettings& settings, std::size_t buffer_bytes) {
  const std::int64_t wanted = 2 * gibibyte + 4 * static_cast<std::int64_t>(buffer_bytes) +
                              settings.threads * (gibibyte / 8);
  return settings.memory_bytes > 0 ? std::min(wanted, settings.memory_bytes) : wanted;
}

constexpr std::size_t alignment = 64;

}  // namespace

Result<Arm> Arm::start(const JudgeSettings& settings, const BuildOutcome& build, bool may_link,
                       std::size_t buffer_bytes) {
  Result<StagedLibrary> library = StagedLibrary::copy(build.library);
  if (!library) {
    return library.error();
  }
  RunnerSettings runner;
  runner.jail = settings.jail;
  runner.program = settings.runner;
  runner.threads = settings.threads;
  runner.stop = settings.stop;
  runner.policy.read = runtime_libraries();
  runner.policy.read.push_back(library->path().string());
  if (may_link) {
    for (const char* folder :
         {"/usr/lib", "/lib", "/lib64", "/etc/alternatives", "/sys", "/proc"}) {
      runner.policy.read.push_back(std::filesystem::weakly_canonical(folder).string());
    }
  }
  runner.policy.landlock = settings.landlock;
  runner.policy.memory_bytes = memory_limit(settings, buffer_bytes);
  Result<RunnerProcess> process = RunnerProcess::start(runner);
  if (!process) {
    return process.error();
  }
  return Arm(std::move(*process), std::move(*library), settings.threads);
}

std::optional<Failure> Arm::ask(runner::Request& request, const std::vector<int>& fds,
                                std::int64_t timeout_ms, const std::string& doing, Exchange& out) {
  out = process_.exchange(request, fds, timeout_ms);
  const bool good = out.end == ExchangeEnd::replied && out.reply.status == runner::CallStatus::ok;
  if (good && process_.violations().empty()) {
    return std::nullopt;
  }
  return explain_exchange(out, process_, doing, plan_ ? &*plan_ : nullptr);
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

std::optional<Failure> Arm::attach(const BufferPlan& plan, const Arena& inputs,
                                   const Arena& outputs, std::int64_t timeout_ms) {
  plan_ = plan;
  runner::Request request{};
  request.op = runner::Op::shape;
  request.layout = runner_layout(plan, threads_);
  Exchange answer;
  if (auto failure = ask(request, {}, timeout_ms, "being asked for its workspace", answer)) {
    return failure;
  }
  has_prepare_ = answer.reply.has_prepare != 0;
  constexpr std::uint64_t sane_bytes = 1ULL << 40;
  workspace_bytes_ = std::min(answer.reply.workspace_bytes, sane_bytes);
  // As the outputs: slack in front, the end at a guard page.
  workspace_stride_ = workspace_bytes_ == 0
                          ? 0
                          : round_up(round_up(workspace_bytes_, alignment) + alignment,
                                     static_cast<std::size_t>(sysconf(_SC_PAGESIZE)));
  Result<Arena> workspace =
      Arena::create(workspace_stride_ * static_cast<std::size_t>(plan.sets), false);
  if (answer.reply.workspace_bytes > sane_bytes || !workspace) {
    return Failure{Outcome::out_of_memory,
                   "",
                   "it asked for a workspace of " + std::to_string(answer.reply.workspace_bytes) +
                       " bytes a call",
                   {}};
  }
  workspace_ = std::move(*workspace);
  request.op = runner::Op::attach;
  request.layout.workspace_bytes = workspace_bytes_;
  request.layout.workspace_stride = workspace_stride_;
  request.layout.workspace_offset = workspace_offset();
  request.layout.state_bytes =
      has_prepare_ ? std::max<std::uint64_t>(answer.reply.state_bytes, 1) : 0;
  return ask(request, {inputs.fd(), outputs.fd(), workspace_.fd()}, timeout_ms,
             "its buffers were mapped", answer);
}

std::size_t Arm::workspace_offset() const {
  return workspace_stride_ - std::min(round_up(workspace_bytes_, alignment), workspace_stride_);
}

std::optional<Failure> Arm::check_workspace() const {
  const std::size_t front = workspace_offset();
  const std::size_t back =
      workspace_stride_ - front - std::min(workspace_bytes_, workspace_stride_);
  for (std::size_t at = 0; workspace_stride_ > 0 && at < workspace_.size();
       at += workspace_stride_) {
    const char* region = workspace_.data() + at;
    if (!is_poison(region, front) || !is_poison(region + workspace_stride_ - back, back)) {
      return Failure{Outcome::incorrect, "guard", "it wrote outside its workspace", {}};
    }
  }
  return std::nullopt;
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

Round Arm::run(const std::vector<std::uint16_t>& sets, std::int64_t timeout_ms) {
  std::memset(workspace_.data(), poison_byte, workspace_.size());
  runner::Request request{};
  request.op = runner::Op::go;
  request.count = static_cast<std::uint32_t>(sets.size());
  std::copy(sets.begin(), sets.end(), request.sets);
  Exchange answer;
  Round round;
  round.failure = ask(request, {}, timeout_ms, "computing", answer);
  round.claim_ns = static_cast<double>(answer.reply.claim_ns);
  round.wall_ns = static_cast<double>(answer.wall_ns);
  round.delay_ns = static_cast<double>(answer.delay_ns + answer.our_delay_ns);
  round.busy_ns = static_cast<double>(answer.delay_ns);
  if (!round.failure) {
    round.failure = check_workspace();
  }
  if (!round.failure && answer.reply.calls != sets.size()) {
    round.failure = Failure{Outcome::cheated, "channel", "it claims a wrong number of calls", {}};
  }
  return round;
}

}  // namespace kernelpro
