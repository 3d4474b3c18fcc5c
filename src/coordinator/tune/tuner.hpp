// Chooses the values of tunable parameters: draws a few configurations, then measures where a
// surrogate of those measured expects the largest gain, around the best and far away.
//
// It needs no language model and no hardware. A second surrogate models who passes: what is like
// failures has to promise more.
#pragma once

#include <unordered_set>
#include <utility>
#include <vector>

#include "coordinator/tune/point_search.hpp"
#include "coordinator/tune/surrogate.hpp"

namespace kernelpro {

class Tuner : public PointSearch {
 public:
  // The space must outlive it. So many configurations are drawn before the surrogate is asked.
  Tuner(const TuneSpace& space, std::uint64_t seed, std::size_t first_draws = 8)
      : space_(space),
        first_draws_(first_draws),
        random_(seed),
        surrogate_(space),
        passing_(space) {}
  [[nodiscard]] std::optional<Code> ask() override;
  void tell(const PointResult& result) override;

 private:
  struct Prospect {
    Code code = 0;
    Places places;
    std::vector<double> alike;  // to those that are modeled
    double chance = 1;          // to pass
    double hope = 0;            // a guess at its time, on the bright side
  };
  [[nodiscard]] std::optional<Code> spread_out();
  [[nodiscard]] double nearest(Code code) const;
  void fit();
  void fit_times();
  void fit_passing();
  [[nodiscard]] std::optional<Code> most_gain();
  // Codes to choose from: around the fastest, and drawn.
  [[nodiscard]] std::vector<Code> gather();
  [[nodiscard]] Code moved(Code code);
  [[nodiscard]] std::vector<Prospect> promising(const std::vector<Code>& codes) const;
  [[nodiscard]] double chance_to_pass(const Places& places) const;
  [[nodiscard]] double chance_to_be_new(const Prospect& one) const;

  const TuneSpace& space_;
  const std::size_t first_draws_;
  Random random_;
  Surrogate surrogate_;             // of the logarithms of times
  Surrogate passing_;               // of 1 for what passed and 0 for what failed
  std::unordered_set<Code> known_;  // told or asked for
  std::unordered_set<Code> told_;
  std::vector<Code> waiting_;                      // asked for and not told
  std::vector<std::pair<double, Code>> passed_;    // logarithms of times, the fastest first
  std::vector<std::pair<double, Code>> in_order_;  // the same, as they were told
  std::vector<std::pair<Code, bool>> outcomes_;    // who passed, as they were told
  std::size_t fitted_ = 0;                         // how many were told at the last fit
};

}  // namespace kernelpro
