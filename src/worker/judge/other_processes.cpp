#include "worker/judge/other_processes.hpp"

#include <algorithm>

#include "common/base/secret.hpp"
#include "worker/judge/purpose.hpp"
#include "worker/judge/time_limit.hpp"

namespace kernelpro {

namespace {

constexpr int other_draws = 2;

// Of other errors the doubt stays, and no more: there may be no memory for another process.
bool is_told(ErrorKind kind) {
  return kind == ErrorKind::timeout || kind == ErrorKind::interrupted;
}

bool any_hangs(const std::vector<ShapeTiming>& shapes) {
  return std::any_of(shapes.begin(), shapes.end(), hangs_on_singles);
}

}  // namespace

TimingInputs OtherProcesses::inputs_at(std::size_t shape, Arm& candidate, Arm& incumbent,
                                       Arm& null) const {
  const Axes& axes = judge_.shapes_[shape].axes;
  return {judge_.task_,
          judge_.ground_,
          *judge_.oracle_,
          judge_.settings_,
          judge_.ceilings_,
          candidate,
          incumbent,
          nullptr,
          null,
          derive(master_, time_shape_purpose, shape),
          agreement_bounds(accepted_.bounds, axes, judge_.task_.outputs.size()),
          at_shape(accepted_.lower_bounds, axes),
          accepted_.precisions};
}

Status OtherProcesses::hold_last(Arm& incumbent, std::size_t shape, int draw,
                                 std::vector<SingleSaving>& savings, ShapeTiming& timing) const {
  constexpr std::size_t most_shapes = 1000;
  if (savings.empty() || !single_calls_count(timing)) {
    return {};
  }
  KP_LET(Arm * null, judge_.null());
  const Key key = derive(master_, time_single_alone_purpose,
                         static_cast<std::size_t>(draw) * most_shapes + shape);
  KP_LET(const SinglesAlone alone,
         time_singles_alone(incumbent, *null, judge_.shapes_[shape], *judge_.rounds_[shape], key,
                            savings.back().gated, Judge::own_timeout_ms()));
  hold_against_alone(savings.back(), alone);
  count_savings(timing, savings);
  return {};
}

Result<std::optional<Failure>> OtherProcesses::ask(Arm& incumbent,
                                                   const std::vector<double>& alone_ns,
                                                   std::vector<std::vector<SingleSaving>> savings,
                                                   std::vector<ShapeTiming>& shapes) const {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    KP_TRY(hold_last(incumbent, i, 0, savings[i], shapes[i]));
  }
  std::optional<Failure> failure;
  for (int draw = 1; draw <= other_draws && !failure && any_hangs(shapes); ++draw) {
    Result<std::optional<Failure>> asked = ask_one(draw, alone_ns, savings, shapes);
    if (!asked && !is_told(asked.error().kind)) {
      break;
    }
    KP_LET(failure, std::move(asked));
  }
  return failure;
}

Result<std::optional<Failure>> OtherProcesses::ask_one(
    int draw, const std::vector<double>& alone_ns, std::vector<std::vector<SingleSaving>>& savings,
    std::vector<ShapeTiming>& shapes) const {
  std::optional<Arm> other;
  // PyTorch's own clock counts, and another process of it takes seconds to start.
  KP_LET(Arm * incumbent, incumbent_.torch_mode.empty()
                              ? judge_.kept(other, incumbent_, "the incumbent")
                              : judge_.timed_baseline());
  KP_LET(Arm * null, judge_.null());
  KP_LET(Arm candidate, judge_.start_arm(candidate_, may_link_));
  const TimeLimit limit(candidate.pid(), longest_timing(alone_ns), judge_.oracle_->work_time());
  std::optional<Failure> failure = candidate.load(judge_.settings_.call_timeout_ms);
  std::vector<std::size_t> timed_here;
  for (std::size_t i = 0; i < shapes.size() && !failure; ++i) {
    if (!hangs_on_singles(shapes[i])) {
      continue;
    }
    const TimingInputs in = inputs_at(i, candidate, *incumbent, *null);
    Result<TimingOutcome> timed =
        time_singles(in, judge_.shapes_[i], *judge_.rounds_[i], shapes[i].incumbent_ns, draw);
    if (limit.passed()) {
      return TimeLimit::error();
    }
    KP_TRY(timed ? Status() : Status(timed.error()));
    failure = std::move(timed->failure);
    if (!timed->savings.empty()) {
      savings[i].push_back(timed->savings.front());
      count_savings(shapes[i], savings[i]);
      timed_here.push_back(i);
    }
  }
  candidate.end();
  for (const std::size_t i : timed_here) {
    KP_TRY(failure ? Status() : hold_last(*incumbent, i, draw, savings[i], shapes[i]));
  }
  return failure;
}

}  // namespace kernelpro
