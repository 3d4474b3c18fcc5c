// What a session does when it is asked for a diagnosis of something on processors.
#include <algorithm>
#include <filesystem>

#include "common/base/file.hpp"
#include "common/base/machine_lock.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/diagnose/diagnose.hpp"
#include "worker/host/host_collect.hpp"
#include "worker/judge/light.hpp"
#include "worker/session/declared_work.hpp"
#include "worker/session/replay_job.hpp"
#include "worker/session/session.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

constexpr char cpu_lock[] = "cpu";
// A candidate is sampled for so long of processor time: at 250 ticks a second the second are 75
// samples, of which a tenth is known to within a third.
constexpr int asked_ms = 1000;
constexpr int searched_ms = 300;

Status keep_host_files(const fs::path& from, const std::string& to) {
  if (to.empty()) {
    return {};
  }
  std::error_code failure;
  fs::create_directories(to, failure);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("samples.") || name.starts_with("maps.") || name == "loops.s" ||
        name.starts_with("callgrind.out")) {
      fs::copy_file(entry.path(), fs::path(to) / name, fs::copy_options::overwrite_existing,
                    failure);
    }
  }
  return failure ? Status(make_error(ErrorKind::io, failure.message(), to)) : Status();
}

void describe_device(Profile& profile) {
  const MachineRecord machine = describe_machine();
  profile.device = machine.processor;
  profile.architecture = machine.architecture;
}

// Builds name the source by folders of the moment (toolchain/build.cpp).
void shorten_own_source(Profile& profile) {
  const auto shorten = [](SourcePlace& place) {
    if (place.file.starts_with("./")) {
      place.file = fs::path(place.file).filename().string();
    }
  };
  for (KernelProfile& kernel : profile.kernels) {
    for (HotLine& line : kernel.lines) {
      shorten(line.place);
    }
    for (HostLoop& loop : kernel.loops) {
      shorten(loop.place);
    }
  }
}

}  // namespace

Result<Diagnosed> Session::diagnose_host_program(const DiagnoseOrder& order,
                                                 const std::function<void(const std::string&)>& say,
                                                 std::stop_token stop) {
  KP_LET(Ceilings measured, host_ceilings(false, stop));
  KP_LET(ScratchDir scratch, ScratchDir::create("profile"));
  ProfiledProgram program;
  program.arguments = order.program;
  program.directory = order.directory;
  set_environment(order, program);
  program.timeout_ms = order.timeout_ms > 0 ? order.timeout_ms : default_profile_timeout_ms;
  HostSettings settings;
  settings.tools = find_host_tools(settings_.programs.string());
  settings.tools.landlock = sandbox_;
  settings.folder = scratch.path();
  settings.count = order.counters;
  settings.progress = say;
  KP_LET(const MachineLock lock,
         MachineLock::acquire(cpu_lock, LockMode::timing, machine_lock_timeout_ms(), stop));
  KP_LET(Collected collected, collect_host_profile(program, settings, stop));
  KP_TRY(keep_host_files(scratch.path(), order.keep));
  Diagnosed out;
  out.profile = std::move(collected.profile);
  out.seconds = std::move(collected.seconds);
  out.profile.ceilings = std::move(measured);
  describe_device(out.profile);
  say("analyzing");
  out.report = kernelpro::diagnose(out.profile, {order.all_tools, {}});
  return out;
}

Result<Diagnosed> Session::diagnose_replayed(const DiagnoseOrder& order, const Candidate& candidate,
                                             const BuildOutcome& built, bool count,
                                             const std::function<void(const std::string&)>& say,
                                             std::stop_token stop) {
  KP_LET(const TimedShape* shape, wanted_shape(order));
  say("laying out public inputs");
  KP_LET(const ReplayJob job,
         ReplayJob::make(*judge_, shape->axes, built.library, candidate.source));
  ProfiledProgram program = job.host_program(
      *ground_, judge_settings_, count ? asked_ms : searched_ms, ground_->cache_bytes());
  program.timeout_ms = order.timeout_ms > 0 ? order.timeout_ms : default_profile_timeout_ms;
  HostSettings settings;
  settings.tools = find_host_tools(settings_.programs.string());
  settings.tools.landlock = sandbox_;
  settings.tools.own = false;
  settings.folder = job.folder();
  settings.preload = false;
  settings.count = count;
  settings.progress = say;
  settings.counted = job.host_program(*ground_, judge_settings_, 0, 0);
  settings.counted->timeout_ms = program.timeout_ms;
  settings.compiler_said = built.diagnostics;
  settings.source = candidate.source;
  KP_LET(const MachineLock lock,
         MachineLock::acquire(cpu_lock, LockMode::timing, machine_lock_timeout_ms(), stop));
  KP_LET(Collected collected, collect_host_profile(program, settings, stop));
  KP_TRY(keep_host_files(job.folder(), order.keep));
  Diagnosed out;
  out.profile = std::move(collected.profile);
  out.seconds = std::move(collected.seconds);
  out.profile.program = candidate.name;
  out.profile.ceilings = *ceilings_;
  out.profile.work = declared_work(judge_->task(), shape->axes);
  out.profile.host->processors = std::min(out.profile.host->processors, judge_->threads());
  describe_device(out.profile);
  shorten_own_source(out.profile);
  out.report = kernelpro::diagnose(out.profile, {order.all_tools, {}});
  return out;
}

Result<Diagnosed> Session::diagnose_host_candidate(
    const DiagnoseOrder& order, const std::function<void(const std::string&)>& say,
    const StageListener& listener, std::stop_token stop) {
  if (order.kind == DiagnoseKind::library) {
    BuildOutcome built;
    built.library = order.library;
    Candidate candidate;
    candidate.name = fs::path(order.library).filename().string();
    return diagnose_replayed(order, candidate, built, order.counters, say, stop);
  }
  KP_TRY(passed_library(order, listener, stop));
  EvaluateOrder evaluate;
  evaluate.candidate = order.candidate;
  evaluate.implementation = order.implementation;
  KP_LET(const EvaluateRequest wanted, evaluate_request(evaluate));
  BuildRequest request = build_request(judge_->task(), wanted.candidate, wanted.may_link);
  request.remarks = true;
  KP_LET(const BuildOutcome built, toolchain_->build(request, stop));
  if (!built.ok) {
    return make_error(ErrorKind::bad_input, built.diagnostics, wanted.candidate.name);
  }
  return diagnose_replayed(order, wanted.candidate, built, order.counters, say, stop);
}

Result<Diagnosed> Session::diagnose_in_search(const EvaluateRequest& request, const Timing& timing,
                                              std::stop_token stop) {
  BuildRequest wanted = build_request(judge_->task(), request.candidate, request.may_link);
  wanted.remarks = true;
  KP_LET(const BuildOutcome built, toolchain_->build(wanted, stop));
  if (!built.ok) {
    return make_error(ErrorKind::bad_input, built.diagnostics, request.candidate.name);
  }
  KP_LET(Diagnosed out,
         diagnose_replayed({}, request.candidate, built, false, [](const std::string&) {}, stop));
  // The judge's own clock, from cold caches, knows better.
  if (!timing.shapes.empty() && timing.shapes.front().candidate_ns > 0) {
    out.profile.host->call_ns = timing.shapes.front().candidate_ns;
    out.report = kernelpro::diagnose(out.profile);
  }
  return out;
}

}  // namespace kernelpro
