// One evaluation from build to verdict.
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "worker/judge/energy.hpp"
#include "worker/judge/judge.hpp"
#include "worker/judge/other_processes.hpp"

namespace kernelpro {

class EvaluationRun {
 public:
  EvaluationRun(Judge& judge, const EvaluateRequest& request, const StageListener& listener,
                std::stop_token stop);
  Evaluation run();

 private:
  [[nodiscard]] Status run_stages();
  [[nodiscard]] Status judge_candidate();
  [[nodiscard]] Status try_or_blame();
  [[nodiscard]] Status blame(const Error& error);
  [[nodiscard]] Status try_candidate();
  [[nodiscard]] std::chrono::milliseconds longest_part() const;
  [[nodiscard]] Status within_limit(Status (EvaluationRun::*part)());
  [[nodiscard]] Status compare_to_incumbent();
  void enter(Stage stage, const std::string& text);
  void fail(Failure failure);
  [[nodiscard]] Status build();
  [[nodiscard]] Status start_baseline();
  [[nodiscard]] std::string rival() const { return request_.incumbent ? "incumbent" : "baseline"; }
  [[nodiscard]] Result<Arm*> other_arm();
  [[nodiscard]] Status time_incumbent_alone();
  [[nodiscard]] Status try_incumbent_as_candidate();
  [[nodiscard]] Status try_candidate_beside_baseline();
  [[nodiscard]] Result<Verdict> beside_baseline(const Candidate& candidate,
                                                const BuildOutcome& build, bool may_link,
                                                std::uint64_t purpose);
  [[nodiscard]] bool is_faster_than_candidate() const;
  [[nodiscard]] Status start_candidate();
  [[nodiscard]] Status check_all();
  [[nodiscard]] Status time_all();
  [[nodiscard]] OtherProcesses processes() const;
  [[nodiscard]] Status ask_other_processes();
  void compare_all();
  [[nodiscard]] Status measure_all_energy();
  [[nodiscard]] Status measure_shape_energy(EnergyMeter& meter, std::size_t i, Energy& energy);
  void trace_short_calls();
  [[nodiscard]] Status trace_all();

  // Of a candidate whose baseline takes no time. On a GPU, TimeLimit ends timing instead.
  static constexpr std::int64_t calls_at_the_deadline = 15;

  Judge& judge_;
  const EvaluateRequest& request_;
  const StageListener& listener_;
  std::stop_token stop_;
  Evaluation out_;
  bool failed_ = false;
  bool screens_ = true;  // who is clearly slower is timed no further
  Accepted accepted_;
  BuildOutcome build_;
  BuildOutcome incumbent_build_;
  Arm* baseline_ = nullptr;
  std::optional<Allowance> allowance_;  // outlives the candidate
  std::optional<Arm> candidate_;
  std::vector<double> alone_ns_;  // the incumbent's call at each timed shape, at its best
  std::vector<std::vector<SingleSaving>> savings_;  // of calls by themselves, by shape
  std::vector<bool> busy_;  // whether other programs disturbed the timing of that shape
};

}  // namespace kernelpro
