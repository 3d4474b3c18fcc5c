// What calls by themselves say of what a candidate saves in rounds, where calls are enqueued.
//
// A round is as long as its calls take together, and a candidate knows the list of them: calls that
// overlap look faster than any of them is. By itself a call cannot overlap, and behind a gate our
// own clock on the device times it. What it saves there against the incumbent's call needs no
// claim, and the empty candidate cancels out. But two processes of one binary differ on that clock.
#pragma once

#include <cstdint>
#include <vector>

#include "common/model/verdict.hpp"
#include "worker/judge/rounds.hpp"

namespace kernelpro {

// A pair of one call each, and beside it one of the empty candidate, handed over to as the
// candidate was; only where calls are enqueued.
struct SinglePair {
  Pair pair;
  Round empty;
};

// By how much calls of the candidate are shorter than the incumbent's by themselves, in one pair of
// processes.
struct SingleSaving {
  double median_ns = 0;
  double noise_ns = 0;  // of that median: half of its 95 % interval
  // The incumbent's single call beyond the empty candidate's; 0: not known on our clock.
  double incumbent_ns = 0;
  double empty_ns = 0;  // the empty candidate's
  bool gated = false;   // whether that was handed over to through a gate, as the candidate was
  // By how much the empty candidate's took longer than without the candidate, beyond doubt.
  double empty_slowed_ns = 0;
};

// Single calls while no candidate's process is there.
struct SinglesAlone {
  double incumbent_ns = 0;     // beyond the empty candidate's; 0: not known on our clock
  double empty_ns = 0;         // the empty candidate's; 0: not known
  double empty_spread_ns = 0;  // of those, between the quartiles
};

// What could be learned from the incumbent's calls and the empty candidate's behind them, as they
// were; `gated`: how the empty candidate was to be handed over to.
[[nodiscard]] SinglesAlone alone_of(const std::vector<Round>& incumbent,
                                    const std::vector<Round>& empty, bool gated);

// Who slows the incumbent's single calls saves nothing by it: they count as they are alone. Nor
// does who slows the empty candidate's, which are taken off those of both arms.
void hold_against_alone(SingleSaving& saving, const SinglesAlone& alone);

// Whether the candidate is called faster, or would be if single calls confirmed more: then the
// incumbent's are held against what they take alone.
[[nodiscard]] bool single_calls_count(const ShapeTiming& timing);

// `incumbent_ns`: its call in a round, which stands for one by itself where our clock did not time
// both alike. `trusted`: the incumbent's own clock is ours.
[[nodiscard]] SingleSaving saving_of(const std::vector<SinglePair>& singles, double incumbent_ns,
                                     bool trusted, std::uint64_t seed);

// The share of a candidate's call that it saves in rounds and no call by itself confirms:
// ErrorBudget::overlap. `savings`: of each pair of processes; where there are none, nothing is
// confirmed. Never more than it saves. In calls of which what processes differ by is a small share
// it is nothing where a gate holds the candidate back, unless the empty candidate was slowed by
// more than that.
[[nodiscard]] double unconfirmed_share(double candidate_ns, double incumbent_ns,
                                       const std::vector<SingleSaving>& savings);

// Whether the candidate would be called faster if calls by themselves confirmed all: then more
// processes are asked.
[[nodiscard]] bool hangs_on_singles(const ShapeTiming& timing);

// Compares again, with the doubt that these savings leave.
void count_savings(ShapeTiming& timing, const std::vector<SingleSaving>& savings);

}  // namespace kernelpro
