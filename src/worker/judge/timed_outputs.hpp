// The outputs of timed calls: who is right where candidate and incumbent disagree, and in a secret
// sample where they do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/judge/lower_precision.hpp"
#include "worker/judge/neighbor_watch.hpp"
#include "worker/judge/timing.hpp"

namespace kernelpro {

// A pair of rounds whose outputs are still there.
struct TimedPair {
  const Key& key;
  const std::vector<std::uint16_t>& called;
  bool odd = false;      // in the distributions beside the normal one
  bool sampled = false;  // looked at without a doubt
  // The sets that will be looked at, as far as they are known.
  std::vector<int> asked = {};  // NOLINT(readability-redundant-member-init)
};

// Whether the outputs of that recorded pair, of about so many, are held against the reference
// though the arms agree: in two of all pairs, at places that follow from the secret key; in four
// where the arms agree within a lower precision, which tells little of what the errors are.
[[nodiscard]] bool is_sampled(const Key& key, std::ptrdiff_t pair, int pairs, bool by_contract);

// How long finding out who is right may take at one shape: a minute, or twenty times what one look
// takes that the candidate has not brought about. Until there is one, the first look stands for it:
// no code of the candidate's runs in any of them.
class DoubtTime {
 public:
  // A look took so long; `sampled`: without a doubt.
  void take(std::int64_t took_ns, bool sampled);

  [[nodiscard]] bool passed() const { return doubt_ns_ > most_ns(); }
  [[nodiscard]] std::int64_t most_ns() const;

 private:
  std::int64_t doubt_ns_ = 0;  // in all looks that were in doubt
  std::int64_t first_ns_ = 0;
  std::int64_t sample_ns_ = 0;  // the longest
};

class TimedOutputs {
 public:
  // Both must outlive it.
  TimedOutputs(const TimingInputs& in, Rounds& rounds, std::int64_t timeout_ms)
      : in_(in),
        rounds_(rounds),
        timeout_ms_(timeout_ms),
        lower_bounds_(in.lower_bounds),
        watch_(rounds.buffers()) {}

  // By output: within how much the arms agree, each at the precision it was accepted at so far.
  [[nodiscard]] std::vector<double> agreement() const;

  // Sets of common values on which the arms agree by a lower precision alone, and whose errors are
  // unlike those of the others.
  [[nodiscard]] std::vector<int> conspicuous(const TimedPair& pair);

  // Whether the candidate is right on `set`; else why not. Where the reference is too slow to be
  // asked, the incumbent, which passed before, is right. The pair's inputs and the incumbent's
  // outputs are as before afterwards. An error is ours.
  [[nodiscard]] Result<std::optional<Failure>> judge(const TimedPair& pair, int set);

  // The lower precision that some call was accepted at, or "contract".
  [[nodiscard]] const std::string& precision() const { return precision_; }

 private:
  // What the task's condition explains, as far as it was asked for.
  struct Condition {
    std::vector<double> bounds;  // by output
    int found = 0;               // how often
  };

  [[nodiscard]] Result<std::optional<Failure>> judge_set(const TimedPair& pair, int set);
  // Elements of missed outputs that still hold what was left there before the call say so.
  void name_unwritten(const TimedPair& pair, int set, ToleranceResult& result) const;
  [[nodiscard]] Result<Reference> reference_for(const TimedPair& pair, const SetInputs& inputs);
  [[nodiscard]] Status ask_baseline(const TimedPair& pair, const SetInputs& inputs,
                                    Reference& reference);
  // What the baseline writes for that set of the pair, and for the others that are to be looked at.
  [[nodiscard]] Status keep_baseline(const TimedPair& pair, int set);
  [[nodiscard]] Status repeat_incumbent(const TimedPair& pair);
  [[nodiscard]] Status judge_incumbent(Reference& reference, const SetInputs& inputs) const;
  // Widened by the lower precisions that are allowed: the incumbent may itself be of one.
  [[nodiscard]] std::vector<double> bounds_of_incumbent(std::vector<double> bounds) const;
  [[nodiscard]] bool may_be_ill_conditioned(const Reference& reference,
                                            const std::vector<TensorError>& errors) const;
  [[nodiscard]] Status widen_by_condition(const TimedPair& pair, const SetInputs& inputs,
                                          const std::vector<TensorError>& errors,
                                          Reference& reference);
  [[nodiscard]] Status add_condition_to(const TimedPair& pair, const SetInputs& inputs,
                                        Reference& reference);
  [[nodiscard]] Status hold_rounding_against(const TimedPair& pair, const SetInputs& inputs,
                                             const std::vector<TensorError>& errors,
                                             const Reference& reference, ToleranceResult& result);

  const TimingInputs& in_;
  Rounds& rounds_;
  std::int64_t timeout_ms_;
  std::vector<double> lower_bounds_;
  NeighborWatch watch_;
  std::map<Distribution, Condition> conditions_;
  // What the baseline wrote, by set of one pair.
  std::map<int, std::shared_ptr<Truth>> baseline_;
  std::optional<Key> baseline_pair_;
  DoubtTime doubt_;
  std::string precision_ = "contract";
};

}  // namespace kernelpro
