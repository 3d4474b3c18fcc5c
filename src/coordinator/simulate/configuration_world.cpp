#include <unordered_set>

#include "coordinator/simulate/play_streams.hpp"
#include "coordinator/simulate/worlds.hpp"
#include "coordinator/tune/point_search.hpp"

namespace kernelpro {

namespace {

class ConfigurationWorld : public TreeWorld {
 public:
  ConfigurationWorld(const Landscape& landscape, const Scores& scores, std::uint64_t seed)
      : space_(landscape.space),
        scores_(scores),
        judge_(landscape, counter_hash(seed, judging)),
        start_(counter_hash(seed, starting)),
        order_(counter_hash(seed, ordering)) {}

  [[nodiscard]] std::optional<PlayedProgram> draw_start() override {
    const std::optional<Code> code = draw_unknown(space_, start_, known_);
    if (!code) {
      return std::nullopt;
    }
    known_.insert(*code);
    const std::optional<double> time = judge_.time(space_.place_of(*code));
    if (time) {
      start_time_ = *time;
      programs_.push_back({.code = *code, .passed = true, .opened = false, .left = {}});
    }
    return played(*code);
  }

  // As the playbook, it has nothing for what failed, and proposes nothing twice in a run.
  [[nodiscard]] Proposed propose(std::size_t parent) override {
    open(programs_[parent]);
    std::vector<Code>& left = programs_[parent].left;
    while (!left.empty()) {
      const Code code = left.back();
      left.pop_back();
      if (known_.insert(code).second) {
        programs_.push_back({.code = code, .passed = false, .opened = false, .left = {}});
        return Proposed::program;
      }
    }
    return Proposed::nothing;
  }

  [[nodiscard]] PlayedProgram judge(std::size_t program) override {
    const PlayedProgram out = played(programs_[program].code);
    programs_[program].passed = out.result.outcome == Outcome::passed;
    return out;
  }

 private:
  struct Program {
    Code code = 0;
    bool passed = false;
    bool opened = false;
    std::vector<Code> left;  // children not tried yet, the next one last
  };

  void open(Program& parent) {
    if (!parent.passed || parent.opened) {
      return;
    }
    parent.opened = true;
    parent.left = space_.neighbors(parent.code);
    for (std::size_t i = parent.left.size(); i > 1; --i) {
      std::swap(parent.left[i - 1], parent.left[order_.below(i)]);
    }
  }

  [[nodiscard]] PlayedProgram played(Code code) const {
    const std::uint64_t place = space_.place_of(code);
    const std::optional<double> time = judge_.time(place);
    PlayedProgram out;
    out.result.outcome = judge_.outcome(place);
    out.result.speedup = time ? start_time_ / *time : 0;
    out.seen_time = time.value_or(0);
    out.share = scores_.share(place);
    return out;
  }

  const TuneSpace& space_;
  const Scores& scores_;
  ReplayJudge judge_;
  Random start_;
  Random order_;
  double start_time_ = 0;
  std::vector<Program> programs_;
  std::unordered_set<Code> known_;
};

}  // namespace

std::unique_ptr<TreeWorld> configuration_world(const Landscape& landscape, const Scores& scores,
                                               std::uint64_t seed) {
  return std::make_unique<ConfigurationWorld>(landscape, scores, seed);
}

}  // namespace kernelpro
