// What a session does when it is asked for a diagnosis.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "common/base/file.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/runner_protocol.hpp"
#include "common/wire/orders_json.hpp"
#include "worker/diagnose/diagnose.hpp"
#include "worker/diagnose/tools/tool.hpp"
#include "worker/judge/light.hpp"
#include "worker/profile/collect.hpp"
#include "worker/profile/launch_choice.hpp"
#include "worker/profile/nsys_trace.hpp"
#include "worker/session/declared_work.hpp"
#include "worker/session/replay_job.hpp"
#include "worker/session/session.hpp"
#include "worker/session/user_tools.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;

// The figures that the tools of these classes read, and those that the classes are told by.
std::vector<std::string> figures_for(const std::vector<KernelClass>& possible) {
  std::set<std::string> keys = roofline_figures();
  for (const Tool& tool : all_tools()) {
    const bool wanted =
        possible.empty() ||
        std::any_of(possible.begin(), possible.end(), [&tool](KernelClass kind) {
          return std::find(tool.classes.begin(), tool.classes.end(), kind) != tool.classes.end();
        });
    if (wanted) {
      keys.insert(tool.figures.begin(), tool.figures.end());
    }
  }
  return {keys.begin(), keys.end()};
}

// Files that the profilers left, for whoever wants to look at them.
Status keep_files(const fs::path& from, const std::string& to) {
  if (to.empty()) {
    return {};
  }
  std::error_code failure;
  fs::create_directories(to, failure);
  for (const fs::directory_entry& entry : fs::directory_iterator(from, failure)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && (name.starts_with("trace") || name.ends_with(".ncu-rep"))) {
      fs::copy_file(entry.path(), fs::path(to) / name, fs::copy_options::overwrite_existing,
                    failure);
    }
  }
  return failure ? Status(make_error(ErrorKind::io, failure.message(), to)) : Status();
}

// The folder of the moment, in which a candidate was built (toolchain/build.cpp).
constexpr std::string_view own_folder = "/proc/self/cwd/";

void shorten(SourcePlace& place) {
  if (place.file.starts_with(own_folder)) {
    place.file.erase(0, own_folder.size());
  }
}

void shorten_places(Profile& profile) {
  for (KernelProfile& kernel : profile.kernels) {
    for (HotLine& line : kernel.lines) {
      shorten(line.place);
    }
    if (!kernel.code) {
      continue;
    }
    for (MemoryInstruction& instruction : kernel.code->memory) {
      shorten(instruction.place);
    }
    for (CodeLoop& loop : kernel.code->loops) {
      shorten(loop.place);
    }
  }
}

bool has_gpu() {
  const Result<std::vector<GpuDescription>> gpus = list_gpus();
  return gpus && !gpus->empty();
}

}  // namespace

DeclaredWork declared_work(const Task& task, const Axes& axes) {
  const Work work = work_at(task, axes);
  DeclaredWork out;
  out.flops = work.flops;
  out.write_bytes = work.bytes * work.written_share;
  out.read_bytes = work.bytes - out.write_bytes;
  out.type = std::string(name_of(contract_type(task)));
  return out;
}

void set_environment(const DiagnoseOrder& order, ProfiledProgram& program) {
  for (const std::string& setting : order.environment) {
    const std::size_t equals = setting.find('=');
    program.environment[setting.substr(0, equals)] =
        equals == std::string::npos ? "" : setting.substr(equals + 1);
  }
}

Result<const TimedShape*> Session::wanted_shape(const DiagnoseOrder& order) const {
  const std::vector<TimedShape>& shapes = judge_->timed_shapes();
  const auto shape = std::find_if(shapes.begin(), shapes.end(), [&order](const TimedShape& one) {
    return !order.shape ||
           std::all_of(order.shape->begin(), order.shape->end(), [&one](const auto& axis) {
             const auto found = one.axes.find(axis.first);
             return found != one.axes.end() && found->second == axis.second;
           });
  });
  if (shape == shapes.end()) {
    return make_error(ErrorKind::bad_input, "the task has no timed shape like that",
                      judge_->task().name);
  }
  return &*shape;
}

Result<Diagnosed> Session::diagnose_program(const DiagnoseOrder& order,
                                            const ProfiledProgram& program, const fs::path& folder,
                                            const std::optional<DeclaredWork>& work,
                                            const std::function<void(const std::string&)>& say,
                                            std::stop_token stop) {
  KP_LET(const MachineLock lock, MachineLock::acquire(gpu_->description().uuid, LockMode::timing,
                                                      machine_lock_timeout_ms(), stop));
  CollectSettings settings;
  settings.profilers = find_profilers(settings_.programs, toolchain_->compilers());
  settings.folder = folder;
  settings.counters = order.counters;
  settings.rules = order.rules;
  settings.cold = work.has_value();
  settings.progress = say;
  settings.limits = gpu_limits(gpu_->description().ordinal);
  // The replayed candidate, or the program itself.
  settings.binary = work ? (folder / runner::replay_library).string() : program.arguments.front();
  const auto choose = [&](const Profile& traced, CollectSettings& wanted) {
    Profile known = traced;
    known.ceilings = *ceilings_;
    known.work = work;
    wanted.figures =
        figures_for(order.all_tools ? std::vector<KernelClass>() : possible_classes(known));
  };
  KP_LET(Collected collected, collect_profile(program, settings, choose, stop));
  KP_TRY(keep_files(folder, order.keep));
  Diagnosed out;
  out.profile = std::move(collected.profile);
  out.seconds = std::move(collected.seconds);
  out.profile.device = gpu_->description().name;
  out.profile.ceilings = *ceilings_;
  out.profile.work = work;
  shorten_places(out.profile);
  if (out.profile.architecture.empty()) {
    out.profile.architecture = "sm_" + gpu_->description().architecture;
  }
  say("analyzing");
  out.report = kernelpro::diagnose(out.profile, {order.all_tools, {}});
  return out;
}

Result<Diagnosed> Session::diagnose_library(const DiagnoseOrder& order, const fs::path& library,
                                            const std::string& source,
                                            const std::function<void(const std::string&)>& say,
                                            std::stop_token stop) {
  KP_LET(const TimedShape* shape, wanted_shape(order));
  say("laying out public inputs");
  KP_LET(const ReplayJob job, ReplayJob::make(*judge_, shape->axes, library, source));
  ProfiledProgram program = job.program(
      *ground_, judge_settings_, find_profilers(settings_.programs, toolchain_->compilers()));
  program.timeout_ms = order.timeout_ms > 0 ? order.timeout_ms : default_profile_timeout_ms;
  return diagnose_program(order, program, job.folder(), declared_work(judge_->task(), shape->axes),
                          say, stop);
}

// Built, and right: a profile of a wrong kernel would lead nowhere.
Result<fs::path> Session::passed_library(const DiagnoseOrder& order, const StageListener& listener,
                                         std::stop_token stop) {
  EvaluateOrder evaluate;
  evaluate.candidate = order.candidate;
  evaluate.implementation = order.implementation;
  evaluate.timed = false;
  KP_LET(const EvaluateRequest request, evaluate_request(evaluate));
  const Evaluation evaluation = judge_->evaluate(request, listener, stop);
  if (evaluation.verdict.outcome != Outcome::passed) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("only what passes is profiled, and this does not: {} ({})",
                                  name_of(evaluation.verdict.outcome), evaluation.verdict.summary),
                      request.candidate.name);
  }
  return built_library(request.candidate, request.may_link, stop);
}

Result<fs::path> Session::built_library(const Candidate& candidate, bool own,
                                        std::stop_token stop) {
  KP_LET(const BuildOutcome built,
         toolchain_->build(build_request(judge_->task(), candidate, own), stop));
  if (!built.ok) {
    return make_error(ErrorKind::bad_input, built.diagnostics, candidate.name);
  }
  return built.library;
}

void Session::diagnose_passed(const EvaluateRequest& request, Evaluated& out,
                              const StageListener& listener, std::stop_token stop) {
  const Verdict& verdict = out.certificate.verdict;
  const bool screened = std::any_of(verdict.timing.shapes.begin(), verdict.timing.shapes.end(),
                                    [](const ShapeTiming& shape) { return shape.screened; });
  if (verdict.outcome != Outcome::passed || screened) {
    out.not_diagnosed = screened ? "it is clearly slower" : "it did not pass";
    return;
  }
  if (is_own_module(judge_->task(), request.candidate)) {
    out.not_diagnosed = "only kernels of a candidate's own are profiled";
    return;
  }
  if (ground_->backend() == Backend::cpu) {
    const Result<Diagnosed> diagnosed = diagnose_in_search(request, verdict.timing, stop);
    if (diagnosed) {
      out.diagnosis = diagnosed->report;
    } else {
      out.not_diagnosed = diagnosed.error().text();
    }
    return;
  }
  const Result<fs::path> library = built_library(request.candidate, request.may_link, stop);
  const Result<Diagnosed> diagnosed =
      library ? diagnose_library(
                    {}, *library, request.candidate.source,
                    [&](const std::string& text) { listener(Stage::done, text); }, stop)
              : Result<Diagnosed>(library.error());
  if (diagnosed) {
    out.diagnosis = diagnosed->report;
  } else {
    out.not_diagnosed = diagnosed.error().text();
  }
}

Result<Diagnosed> Session::diagnose_any(const DiagnoseOrder& order,
                                        const std::function<void(const std::string&)>& say,
                                        const StageListener& listener, std::stop_token stop) {
  switch (order.kind) {
    case DiagnoseKind::profile: {
      Diagnosed out;
      out.profile = *order.profile;
      out.report = kernelpro::diagnose(out.profile, {order.all_tools, {}});
      return out;
    }
    case DiagnoseKind::nsys: {
      KP_LET(Trace trace, read_nsys_report(order.nsys_report));
      Diagnosed out;
      out.profile.program = order.nsys_report;
      out.profile.architecture = trace.architecture;
      out.profile.counters = "an nsys report has no counters";
      out.profile.trace = std::move(trace);
      out.profile.kernels = choose_launches(*out.profile.trace, 0.9, 8).kernels;
      out.report = kernelpro::diagnose(out.profile, {order.all_tools, {}});
      return out;
    }
    case DiagnoseKind::program: {
      KP_TRY(need_toolchain(sandbox_, order.device));
      if (order.backend.value_or(has_gpu() ? Backend::cuda : Backend::cpu) == Backend::cpu) {
        return diagnose_host_program(order, say, stop);
      }
      KP_LET(Ceilings measured, gpu_ceilings(order.device, false, stop));
      judge_.reset();
      ceilings_ = std::move(measured);
      KP_LET(ScratchDir folder, ScratchDir::create("profile"));
      ProfiledProgram program;
      program.arguments = order.program;
      program.directory = order.directory;
      set_environment(order, program);
      program.environment["CUDA_VISIBLE_DEVICES"] = gpu_->description().uuid;
      program.timeout_ms = order.timeout_ms > 0 ? order.timeout_ms : default_profile_timeout_ms;
      return diagnose_program(order, program, folder.path(), std::nullopt, say, stop);
    }
    case DiagnoseKind::candidate:
    case DiagnoseKind::library: {
      if (!judge_) {
        return make_error(ErrorKind::bad_input,
                          "a candidate is diagnosed where its task is open: send `open` first");
      }
      if (ground_->backend() == Backend::cpu) {
        return diagnose_host_candidate(order, say, listener, stop);
      }
      const Result<fs::path> library = order.kind == DiagnoseKind::library
                                           ? Result<fs::path>(fs::path(order.library))
                                           : passed_library(order, listener, stop);
      const std::string source = order.candidate ? order.candidate->source : "";
      return library ? diagnose_library(order, *library, source, say, stop) : library.error();
    }
  }
  return make_error(ErrorKind::internal, "unhandled kind of diagnosis");
}

Result<Diagnosed> Session::diagnose(const DiagnoseOrder& order,
                                    const std::function<void(const std::string&)>& say,
                                    const StageListener& listener, std::stop_token stop) {
  KP_LET(Diagnosed diagnosed, diagnose_any(order, say, listener, stop));
  run_user_tools(user_tools_folder(), (settings_.programs / "kernelpro-jail").string(), sandbox_,
                 diagnosed.profile, diagnosed.report, stop);
  return diagnosed;
}

}  // namespace kernelpro
