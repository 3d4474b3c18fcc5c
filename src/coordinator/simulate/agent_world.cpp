#include <cmath>

#include "coordinator/simulate/worlds.hpp"

namespace kernelpro {

namespace {

class AgentWorld : public TreeWorld {
 public:
  AgentWorld(const AgentModel& model, std::uint64_t seed) : tree_(model, seed) {}

  [[nodiscard]] std::optional<PlayedProgram> draw_start() override {
    if (!programs_.empty()) {
      return std::nullopt;
    }
    programs_.push_back(tree_.root());
    return judge(0);
  }

  [[nodiscard]] Proposed propose(std::size_t parent) override {
    const std::optional<AgentTree::Child> child = tree_.next_child(programs_[parent]);
    if (!child) {
      return Proposed::nothing;
    }
    if (child->repeats) {
      return Proposed::repetition;
    }
    programs_.push_back(child->program);
    return Proposed::program;
  }

  [[nodiscard]] PlayedProgram judge(std::size_t program) override {
    const AgentProgram& one = programs_[program];
    PlayedProgram out;
    out.result.outcome = one.outcome;
    if (one.passed()) {
      out.result.speedup = std::exp(tree_.measured_speed(one));
      out.result.noise = tree_.noise();
      out.result.outlook = tree_.outlook(one);
      out.result.kind = one.kind + 1;
      out.seen_time = 1 / out.result.speedup;
      out.share = tree_.share(one);
    }
    return out;
  }

 private:
  AgentTree tree_;
  std::vector<AgentProgram> programs_;
};

}  // namespace

std::unique_ptr<TreeWorld> agent_world(const AgentLandscape& landscape, std::uint64_t seed) {
  return std::make_unique<AgentWorld>(landscape.model, seed);
}

}  // namespace kernelpro
