// The correctness stages: is the candidate right on inputs it could not foresee?
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/judge/check_cases.hpp"
#include "worker/judge/lower_precision.hpp"
#include "worker/judge/reference.hpp"
#include "worker/judge/shape_buffers.hpp"

namespace kernelpro {

class Correctness {
 public:
  Correctness(const Task& task, Ground& ground, Oracle& oracle, Arm& baseline, Arm& candidate,
              const JudgeSettings& settings, std::vector<std::string> allowed_precisions)
      : task_(task),
        ground_(ground),
        oracle_(oracle),
        baseline_(baseline),
        candidate_(candidate),
        settings_(settings),
        allowed_(std::move(allowed_precisions)) {}

  // A stand that is there anyway, and outlives this: used at its shape where another of the same
  // kind would take too much memory.
  void may_borrow(const ShapeBuffers& buffers) { lent_.push_back(&buffers); }

  // Whether there was room for the reference's values before there was a candidate.
  void expect_truth(bool fits) { truth_fits_ = fits; }

  // Runs one check. A failure is the candidate's; an error is ours (oracle or baseline failed).
  [[nodiscard]] Result<std::optional<Failure>> check(const CheckCase& item);

  [[nodiscard]] const std::vector<CheckRecord>& records() const { return records_; }
  // The lower precision some check was accepted at, or "contract".
  [[nodiscard]] const std::string& precision() const { return precision_; }
  // By timed shape: how far each output may be from the truth.
  [[nodiscard]] const std::map<Axes, std::vector<double>>& bounds() const { return bounds_; }
  // By timed shape where that happened: how far each output may be from the truth at that
  // precision.
  [[nodiscard]] const std::map<Axes, std::vector<double>>& lower_bounds() const {
    return lower_bounds_;
  }

 private:
  [[nodiscard]] Status stand_for(const InputDraw& draw);
  [[nodiscard]] const ShapeBuffers* lent_for(const InputDraw& draw) const;
  // How many sets of the stand are used.
  [[nodiscard]] int sets() const;
  [[nodiscard]] Result<Reference> reference_for(const CheckCase& item, int set);
  // What is in memory that a call need not have written.
  [[nodiscard]] static unsigned char unwritten(const CheckCase& item);
  [[nodiscard]] std::optional<Failure> run_candidate(const CheckCase& item,
                                                     const std::vector<std::uint16_t>& sets);
  [[nodiscard]] std::optional<Failure> attach_candidate();
  [[nodiscard]] Result<std::optional<Failure>> judge_set(const CheckCase& item,
                                                         Reference& reference, int set);
  // What its outputs of a set came to.
  struct Judged {
    std::vector<TensorError> errors;
    ToleranceResult result;
  };
  // `record` gets the figures.
  [[nodiscard]] Result<Judged> judge_outputs(const SetInputs& in, Reference& reference,
                                             CheckRecord& record) const;
  [[nodiscard]] Status judge_precision(const CheckCase& item, const SetInputs& in,
                                       const Reference& reference, Judged& judged);
  [[nodiscard]] std::optional<Failure> check_repeats(const CheckCase& item,
                                                     const Reference& reference);
  void draw(const CheckCase& item, int set);
  [[nodiscard]] std::int64_t timeout_ms() const;

  const Task& task_;
  Ground& ground_;
  Oracle& oracle_;
  Arm& baseline_;
  Arm& candidate_;
  const JudgeSettings& settings_;
  std::vector<std::string> allowed_;
  std::vector<const ShapeBuffers*> lent_;
  std::optional<ShapeBuffers> own_;
  const ShapeBuffers* buffers_ = nullptr;  // own_, or one that is lent
  bool truth_fits_ = false;
  bool baseline_attached_ = false;
  bool candidate_attached_ = false;
  double baseline_ns_ = 0;  // of the last baseline call
  std::vector<CheckRecord> records_;
  std::string precision_ = "contract";
  std::map<Axes, std::vector<double>> bounds_;
  std::map<Axes, std::vector<double>> lower_bounds_;
};

}  // namespace kernelpro
