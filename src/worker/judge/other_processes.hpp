// What a timing is made of, and other processes that are asked where one pair of them leaves doubt.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/judge/judge.hpp"
#include "worker/judge/verdict_sum.hpp"

namespace kernelpro {

// What a candidate's checks had to keep, and what was accepted of it.
struct Accepted {
  ShapeBounds bounds;        // by output, at each shape
  ShapeBounds lower_bounds;  // of a precision that was accepted
  std::vector<std::string> precisions;
};

// On a GPU two processes of one binary differ in what our clock shows for calls by themselves, so
// in short calls one of each arm cannot confirm a small gain. Where a claim hangs on that, others
// are asked: on average they differ less.
class OtherProcesses {
 public:
  OtherProcesses(Judge& judge, const BuildOutcome& candidate, const BuildOutcome& incumbent,
                 bool may_link, const Key& master, const Accepted& accepted)
      : judge_(judge),
        candidate_(candidate),
        incumbent_(incumbent),
        may_link_(may_link),
        master_(master),
        accepted_(accepted) {}

  [[nodiscard]] TimingInputs inputs_at(std::size_t shape, Arm& candidate, Arm& incumbent,
                                       Arm& null) const;

  // Compares the shapes that hang on it again, with what other processes save; `savings`: so far,
  // by shape, against `incumbent`. No other process of the candidate may be there. A failure is the
  // candidate's; an error of kind timeout: it kept others from the device.
  [[nodiscard]] Result<std::optional<Failure>> ask(Arm& incumbent,
                                                   const std::vector<double>& alone_ns,
                                                   std::vector<std::vector<SingleSaving>> savings,
                                                   std::vector<ShapeTiming>& shapes) const;

 private:
  // Holds the last saving at a shape against what that incumbent's single calls take alone.
  [[nodiscard]] Status hold_last(Arm& incumbent, std::size_t shape, int draw,
                                 std::vector<SingleSaving>& savings, ShapeTiming& timing) const;
  [[nodiscard]] Result<std::optional<Failure>> ask_one(
      int draw, const std::vector<double>& alone_ns,
      std::vector<std::vector<SingleSaving>>& savings, std::vector<ShapeTiming>& shapes) const;

  Judge& judge_;
  const BuildOutcome& candidate_;
  const BuildOutcome& incumbent_;
  bool may_link_;
  const Key& master_;
  const Accepted& accepted_;
};

}  // namespace kernelpro
