// Serves the worker's requests: one open task at a time, any number of candidates.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "common/model/orders.hpp"
#include "common/wire/worker_line.hpp"
#include "worker/cuda/gpu.hpp"
#include "worker/judge/judge.hpp"
#include "worker/profile/profiled_program.hpp"

namespace kernelpro {

struct SessionSettings {
  std::filesystem::path programs;  // where kernelpro-jail, -runner and -oracle are
  std::filesystem::path share;     // share/kernelpro
  std::filesystem::path cache;
};

class Session {
 public:
  explicit Session(SessionSettings settings) : settings_(std::move(settings)) {}

  // Carries out one request; `emit` gets its events as they happen. The reply's result or the
  // error.
  [[nodiscard]] Result<nlohmann::json> handle(const WorkerRequest& request,
                                              const std::function<void(const WorkerEvent&)>& emit,
                                              std::stop_token stop);

  [[nodiscard]] WorkerDescription describe();
  [[nodiscard]] Result<Ceilings> ceilings(const CeilingsOrder& order, std::stop_token stop);
  [[nodiscard]] Result<Opened> open(const OpenOrder& order, std::stop_token stop);
  // Into the cache, on all cores; one entry each.
  [[nodiscard]] Result<BuildReply> build(const BuildOrder& order, std::stop_token stop);
  [[nodiscard]] Result<Evaluated> evaluate(const EvaluateOrder& order,
                                           const StageListener& listener, std::stop_token stop);
  [[nodiscard]] Result<Diagnosed> diagnose(const DiagnoseOrder& order,
                                           const std::function<void(const std::string&)>& say,
                                           const StageListener& listener, std::stop_token stop);
  [[nodiscard]] Result<LintFindings> check(const std::function<void(const std::string&)>& say,
                                           std::stop_token stop);

 private:
  // session_diagnose.cpp
  [[nodiscard]] Result<Diagnosed> diagnose_any(const DiagnoseOrder& order,
                                               const std::function<void(const std::string&)>& say,
                                               const StageListener& listener, std::stop_token stop);
  [[nodiscard]] Result<Diagnosed> diagnose_library(
      const DiagnoseOrder& order, const std::filesystem::path& library, const std::string& source,
      const std::function<void(const std::string&)>& say, std::stop_token stop);
  // `folder`: where the profilers write. Toolchain, GPU and ceilings are there.
  [[nodiscard]] Result<Diagnosed> diagnose_program(
      const DiagnoseOrder& order, const ProfiledProgram& program,
      const std::filesystem::path& folder, const std::optional<DeclaredWork>& work,
      const std::function<void(const std::string&)>& say, std::stop_token stop);
  // Adds the diagnosis of what `request` asked to judge, or why there is none.
  void diagnose_passed(const EvaluateRequest& request, Evaluated& out,
                       const StageListener& listener, std::stop_token stop);
  [[nodiscard]] Result<std::filesystem::path> passed_library(const DiagnoseOrder& order,
                                                             const StageListener& listener,
                                                             std::stop_token stop);
  [[nodiscard]] Result<std::filesystem::path> built_library(const Candidate& candidate, bool own,
                                                            std::stop_token stop);

  // session_host.cpp, on processors.
  [[nodiscard]] Result<Diagnosed> diagnose_host_candidate(
      const DiagnoseOrder& order, const std::function<void(const std::string&)>& say,
      const StageListener& listener, std::stop_token stop);
  [[nodiscard]] Result<Diagnosed> diagnose_host_program(
      const DiagnoseOrder& order, const std::function<void(const std::string&)>& say,
      std::stop_token stop);
  // By samples, machine code and llvm-mca alone, which take less than half a second.
  [[nodiscard]] Result<Diagnosed> diagnose_in_search(const EvaluateRequest& request,
                                                     const Timing& timing, std::stop_token stop);
  [[nodiscard]] Result<Diagnosed> diagnose_replayed(
      const DiagnoseOrder& order, const Candidate& candidate, const BuildOutcome& built, bool count,
      const std::function<void(const std::string&)>& say, std::stop_token stop);
  [[nodiscard]] Result<const TimedShape*> wanted_shape(const DiagnoseOrder& order) const;

  // For the architecture of GPU `device`, where there is one.
  [[nodiscard]] Status need_toolchain(bool sandbox, int device);
  // Makes the ground that the order asks for, and measures what it can do at best.
  [[nodiscard]] Status need_ground(const OpenOrder& order, std::stop_token stop);
  [[nodiscard]] Status need_gpu(int device);
  [[nodiscard]] Result<Ceilings> host_ceilings(bool refresh, std::stop_token stop) const;
  [[nodiscard]] Result<Ceilings> gpu_ceilings(int device, bool refresh, std::stop_token stop);
  [[nodiscard]] JudgeSettings judge_settings(const OpenOrder& order) const;
  [[nodiscard]] Result<EvaluateRequest> evaluate_request(const EvaluateOrder& order) const;

  SessionSettings settings_;
  bool sandbox_ = true;
  int device_ = 0;  // what the toolchain is for
  std::optional<Toolchain> toolchain_;
  std::optional<Task> task_;          // the open one: candidates are built for it
  std::optional<Ceilings> ceilings_;  // of the open task's ground
  JudgeSettings judge_settings_;      // of the open task
  std::unique_ptr<Gpu> gpu_;
  std::unique_ptr<Ground> ground_;  // may stand on the GPU
  std::unique_ptr<Judge> judge_;    // stands on the ground
};

}  // namespace kernelpro
