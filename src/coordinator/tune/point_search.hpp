// Which configuration to measure next: ask and tell, as a search over trees has it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_set>

#include "coordinator/tune/space.hpp"

namespace kernelpro {

// What became of a configuration. A failure has no time.
struct PointResult {
  Code code = 0;
  std::optional<double> time;  // finite and positive
};

// A pure function of its seed and of the calls made to it, in their order.
class PointSearch {
 public:
  PointSearch() = default;
  PointSearch(const PointSearch&) = delete;
  PointSearch& operator=(const PointSearch&) = delete;
  virtual ~PointSearch() = default;

  // One that was neither asked for nor told before; nothing when none is left. Several may be asked
  // for before the first is told.
  [[nodiscard]] virtual std::optional<Code> ask() = 0;
  // What the space does not admit, a time that is none, and what was told before change nothing.
  // What nobody asked for is welcome.
  virtual void tell(const PointResult& result) = 0;
};

// Each as likely as the next: what a search must beat.
class UniformDraws : public PointSearch {
 public:
  // The space must outlive it.
  UniformDraws(const TuneSpace& space, std::uint64_t seed) : space_(space), random_(seed) {}
  [[nodiscard]] std::optional<Code> ask() override;
  void tell(const PointResult& result) override;

 private:
  const TuneSpace& space_;
  Random random_;
  std::unordered_set<Code> known_;
};

// A code that is not in `known`, each as likely as the next; nothing when none is left.
[[nodiscard]] std::optional<Code> draw_unknown(const TuneSpace& space, Random& random,
                                               const std::unordered_set<Code>& known);

}  // namespace kernelpro
