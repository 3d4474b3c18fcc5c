#include "worker/session/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/date.hpp"
#include "common/base/jail_policy.hpp"
#include "common/base/machine_lock.hpp"
#include "common/wire/json.hpp"
#include "common/wire/orders_json.hpp"
#include "worker/ceilings/ceilings.hpp"
#include "worker/ceilings/machine.hpp"
#include "worker/cuda/cuda_ceilings.hpp"
#include "worker/cuda/cuda_ground.hpp"
#include "worker/cuda/nvml.hpp"
#include "worker/judge/host_ground.hpp"
#include "worker/judge/lint.hpp"
#include "worker/session/worker_description.hpp"
#include "worker/toolchain/cuda.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t assumed_cache_bytes = 32 << 20;

Error nothing_open() {
  return make_error(ErrorKind::bad_input, "no task is open: send `open` first");
}

template <typename Answer>
Result<nlohmann::json> written(const Result<Answer>& answer) {
  return answer ? Result<nlohmann::json>(to_json(*answer)) : answer.error();
}

std::vector<OpenedShape> opened_shapes(const Judge& judge) {
  std::vector<OpenedShape> out;
  for (const TimedShape& shape : judge.timed_shapes()) {
    OpenedShape opened;
    for (const AxisSpec& axis : judge.task().axes) {
      if (!axis.derived) {
        opened.shape[axis.name] = shape.axes.at(axis.name);
      }
    }
    opened.baseline_ns = shape.solo_ns;
    opened.calls = shape.rounds.calls;
    opened.flushed = shape.rounds.flush;
    opened.pairs = shape.pairs;
    opened.noise_floor = shape.noise_floor;
    out.push_back(std::move(opened));
  }
  return out;
}

}  // namespace

Result<nlohmann::json> Session::handle(const WorkerRequest& request,
                                       const std::function<void(const WorkerEvent&)>& emit,
                                       std::stop_token stop) {
  const StageListener listener = [&](Stage stage, const std::string& text) {
    emit(WorkerEvent{request.id, std::string(name_of(stage)), text});
  };
  const nlohmann::json& body = *request.body;
  switch (request.op) {
    case WorkerOp::describe:
      return to_json(describe());
    case WorkerOp::ceilings: {
      KP_LET(const CeilingsOrder order, ceilings_order_from_json(body));
      return written(ceilings(order, stop));
    }
    case WorkerOp::open: {
      KP_LET(const OpenOrder order, open_order_from_json(body));
      return written(open(order, stop));
    }
    case WorkerOp::build: {
      KP_LET(const BuildOrder order, build_order_from_json(body));
      return written(build(order, stop));
    }
    case WorkerOp::evaluate: {
      KP_LET(const EvaluateOrder order, evaluate_order_from_json(body));
      return written(evaluate(order, listener, stop));
    }
    case WorkerOp::diagnose: {
      KP_LET(const DiagnoseOrder order, diagnose_order_from_json(body));
      const auto say = [&](const std::string& text) { emit({request.id, "diagnose", text}); };
      return written(diagnose(order, say, listener, stop));
    }
    case WorkerOp::check:
      return written(
          check([&](const std::string& text) { emit({request.id, "check", text}); }, stop));
    case WorkerOp::close:
      judge_.reset();
      task_.reset();
      return nlohmann::json::object();
  }
  return make_error(ErrorKind::internal, "unhandled request");
}

WorkerDescription Session::describe() {
  const bool sandbox = landlock_abi() >= least_landlock_abi;
  const Status ready = need_toolchain(sandbox, device_);
  return describe_worker(ready ? Result<std::vector<Compiler>>(toolchain_->compilers())
                               : ready.error());
}

Status Session::need_toolchain(bool sandbox, int device) {
  if (toolchain_ && sandbox_ == sandbox && device_ == device) {
    return {};
  }
  ToolchainSettings settings;
  settings.cache = settings_.cache;
  settings.abi_include = settings_.share / "include";
  settings.jail = settings_.programs / "kernelpro-jail";
  settings.landlock = sandbox;
  if (const Result<std::vector<GpuDescription>> gpus = list_gpus(); gpus && !gpus->empty()) {
    const auto last = static_cast<int>(gpus->size()) - 1;
    settings.cuda_architecture =
        (*gpus)[static_cast<std::size_t>(std::clamp(device, 0, last))].architecture;
  }
  settings.lock_timeout_ms = machine_lock_timeout_ms();
  if (const char* text = std::getenv("KERNELPRO_BUILD_TIMEOUT_MS"); text != nullptr) {
    const std::int64_t given = std::strtoll(text, nullptr, 10);
    settings.build_timeout_ms = given > 0 ? given : settings.build_timeout_ms;
  }
  KP_LET(Toolchain opened, Toolchain::open(settings));
  judge_.reset();
  gpu_.reset();
  toolchain_.emplace(std::move(opened));
  sandbox_ = sandbox;
  device_ = device;
  return {};
}

Result<Ceilings> Session::host_ceilings(bool refresh, std::stop_token stop) const {
  CeilingSettings settings;
  settings.cache = settings_.cache;
  settings.source = settings_.share / "ceilings" / "cpu.cpp";
  settings.refresh = refresh;
  return measure_ceilings(*toolchain_, settings, stop);
}

Result<Ceilings> Session::gpu_ceilings(int device, bool refresh, std::stop_token stop) {
  KP_TRY(need_gpu(device));
  CudaCeilingSettings settings;
  settings.cache = settings_.cache;
  settings.source = settings_.share / "ceilings" / "cuda.cu";
  settings.refresh = refresh;
  return measure_cuda_ceilings(*gpu_, *toolchain_, settings, stop);
}

Result<Ceilings> Session::ceilings(const CeilingsOrder& order, std::stop_token stop) {
  const bool cuda = order.backend == Backend::cuda;
  if (cuda && judge_ && gpu_ && gpu_->description().ordinal != order.device) {
    return make_error(ErrorKind::bad_input,
                      "a task is open on another GPU: send `close` before asking for this one");
  }
  KP_TRY(need_toolchain(sandbox_, cuda ? order.device : device_));
  return cuda ? gpu_ceilings(order.device, order.refresh, stop)
              : host_ceilings(order.refresh, stop);
}

JudgeSettings Session::judge_settings(const OpenOrder& order) const {
  const MachineRecord machine = describe_machine();
  JudgeSettings settings;
  settings.jail = (settings_.programs / "kernelpro-jail").string();
  settings.runner = (settings_.programs / "kernelpro-runner").string();
  settings.oracle = (settings_.programs / "kernelpro-oracle").string();
  settings.torch = (settings_.share / "oracle" / "torch_oracle.py").string();
  settings.landlock = order.judging.sandbox;
  settings.timed = order.timed;
  settings.threads = order.judging.threads > 0 ? order.judging.threads : std::max(machine.cores, 1);
  settings.memory_bytes = machine.memory_bytes;
  if (order.judging.call_timeout_seconds > 0) {
    settings.call_timeout_ms = std::llround(order.judging.call_timeout_seconds * 1000);
  }
  settings.trace = order.judging.trace;
  settings.warm = order.judging.warm;
  if (order.judging.timing_seconds > 0) {
    settings.timing_seconds = order.judging.timing_seconds;
  }
  settings.lock_timeout_ms = machine_lock_timeout_ms();
  return settings;
}

Status Session::need_ground(const OpenOrder& order, std::stop_token stop) {
  ground_.reset();
  if (order.judging.backend == Backend::cuda) {
    KP_LET(ceilings_, gpu_ceilings(order.judging.device, false, stop));
    ground_ = make_cuda_ground(*gpu_, cupti_library(toolchain_->compilers()).string());
    return {};
  }
  KP_LET(ceilings_, host_ceilings(false, stop));
  const std::int64_t cache = describe_machine().cache_bytes;
  ground_ = make_host_ground(cache > 0 ? cache : assumed_cache_bytes);
  return {};
}

Status Session::need_gpu(int device) {
  if (gpu_ && gpu_->description().ordinal == device) {
    return {};
  }
  gpu_.reset();
  KP_LET(const std::vector<GpuDescription> gpus, list_gpus());
  if (device < 0 || device >= static_cast<int>(gpus.size())) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("there is no GPU {}; the driver shows {}", device, gpus.size()));
  }
  const GpuDescription& gpu = gpus[static_cast<std::size_t>(device)];
  if (!gpu.unusable.empty()) {
    return make_error(ErrorKind::environment, gpu.unusable + "; choose another GPU with --device",
                      fmt::format("GPU {}, {}", device, gpu.name));
  }
  KP_LET(gpu_, Gpu::open(gpu, *toolchain_));
  return {};
}

Result<Opened> Session::open(const OpenOrder& order, std::stop_token stop) {
  if (order.judging.sandbox && landlock_abi() < least_landlock_abi) {
    const Problem problem = landlock_problem(landlock_abi());
    return make_error(ErrorKind::environment, problem.what + "; " + problem.remedy);
  }
  KP_TRY(need_toolchain(order.judging.sandbox,
                        order.judging.backend == Backend::cuda ? order.judging.device : device_));
  judge_.reset();
  task_.reset();
  KP_TRY(toolchain_->use_headers(order.headers));
  if (order.build_only) {
    task_ = order.task;
    return Opened{task_hash(order.task), {}, {}, {}};
  }
  KP_TRY(need_ground(order, stop));
  if (order.energy && order.task.reference.torch) {
    return make_error(ErrorKind::bad_input,
                      "energy cannot be measured against PyTorch: its process also copies and "
                      "flushes between calls",
                      order.task.name);
  }
  if (order.energy) {
    if (const Result<EnergyMeter*> meter = ground_->energy_meter(); !meter) {
      return make_error(meter.error().kind,
                        "energy cannot be measured here: " + meter.error().text());
    }
  }
  judge_settings_ = judge_settings(order);
  KP_LET(judge_, Judge::open(order.task, *toolchain_, *ceilings_, *ground_, judge_settings_, stop));
  task_ = order.task;
  toolchain_->hold_builds();  // its baseline may have to be started again
  KP_LET(std::vector<LintFinding> findings, lint_trivial(*judge_));
  return Opened{task_hash(order.task), opened_shapes(*judge_), std::move(findings), *ceilings_};
}

Result<BuildReply> Session::build(const BuildOrder& order, std::stop_token stop) {
  if (!task_) {
    return nothing_open();
  }
  // What does not build says why when it is evaluated; here the cache is filled.
  const std::vector<Candidate>& candidates = order.candidates;
  std::vector<BuildSummary> built(candidates.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < candidates.size() && !stop.stop_requested(); i = next++) {
      const Result<BuildOutcome> outcome =
          toolchain_->build(build_request(*task_, candidates[i], false), stop);
      if (outcome && outcome->ok) {
        built[i] = {true, outcome->record.binary_hash};
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  return BuildReply{std::move(built)};
}

Result<EvaluateRequest> Session::evaluate_request(const EvaluateOrder& order) const {
  EvaluateRequest request;
  request.incumbent = order.incumbent;
  request.allow_precision = order.allow_precision;
  request.timed = order.timed;
  request.brief = order.brief;
  request.energy = order.energy;
  request.master = order.master;
  request.repeat_checks = order.repeat_checks;
  if (order.candidate) {
    request.candidate = *order.candidate;
    return request;
  }
  const Task& task = judge_->task();
  const ImplementationSpec* found = find_implementation(task.baselines, order.implementation);
  if (found == nullptr) {
    found = find_implementation(task.comparators, order.implementation);
  }
  if (found == nullptr) {
    std::string known;
    for (const auto* list : {&task.baselines, &task.comparators}) {
      for (const ImplementationSpec& one : *list) {
        known += (known.empty() ? "" : ", ") + one.name;
      }
    }
    return make_error(ErrorKind::bad_input,
                      fmt::format("the task has no implementation \"{}\"; it has: {}",
                                  order.implementation, known),
                      task.name);
  }
  request.candidate = candidate_of(task, *found);
  request.may_link = true;
  return request;
}

Result<Evaluated> Session::evaluate(const EvaluateOrder& order, const StageListener& listener,
                                    std::stop_token stop) {
  if (!judge_) {
    return nothing_open();
  }
  KP_LET(const EvaluateRequest wanted, evaluate_request(order));
  Evaluation evaluation = judge_->evaluate(wanted, listener, stop);
  if (stop.stop_requested()) {
    return make_error(ErrorKind::interrupted, "the evaluation was interrupted");
  }
  if (evaluation.verdict.outcome == Outcome::not_judged && gpu_ && gpu_->lost()) {
    return make_error(ErrorKind::lost,
                      "the worker's context on the GPU is lost: it must be started "
                      "anew");
  }
  Evaluated out;
  Certificate& certificate = out.certificate;
  certificate.program_version = KERNELPRO_VERSION;
  certificate.date = utc_now();
  certificate.task = judge_->task();
  certificate.task_hash = task_hash(judge_->task());
  certificate.candidate = wanted.candidate;
  certificate.incumbent = std::move(evaluation.incumbent);
  certificate.build = std::move(evaluation.build);
  certificate.incumbent_build = std::move(evaluation.incumbent_build);
  certificate.machine = describe_machine();
  if (gpu_ && ground_->backend() == Backend::cuda) {
    certificate.machine.gpus = {gpu_record(gpu_->description())};
    if (const std::optional<GpuState> state = gpu_state(gpu_->description().uuid)) {
      certificate.machine.clocks_mhz = {{"gpu_sm", state->sm_mhz},
                                        {"gpu_memory", state->memory_mhz}};
    }
  }
  certificate.threads = judge_->threads();
  certificate.sandbox = sandbox_ ? "landlock" : "none";
  certificate.master = evaluation.master;
  certificate.ceilings = *ceilings_;
  certificate.verdict = std::move(evaluation.verdict);
  out.implementation = std::move(evaluation.implementation);
  if (order.diagnose && certificate.verdict.timing.speedup > order.diagnose_above) {
    diagnose_passed(wanted, out, listener, stop);
  }
  return out;
}

Result<LintFindings> Session::check(const std::function<void(const std::string&)>& say,
                                    std::stop_token stop) {
  if (!judge_) {
    return nothing_open();
  }
  KP_LET(std::vector<LintFinding> findings, lint_task(*judge_, *toolchain_, stop, say));
  return LintFindings{std::move(findings)};
}

}  // namespace kernelpro
