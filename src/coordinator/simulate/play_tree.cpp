#include <deque>
#include <limits>

#include "coordinator/simulate/tree_world.hpp"

namespace kernelpro {

namespace {

// So many repetitions in a row end a branch: an agent that has nothing new there.
constexpr int most_repetitions = 3;

// The tree that a search grows.
class TreePlay {
 public:
  TreePlay(const PlaySettings& settings, Search& search, TreeWorld& world)
      : search_(search),
        world_(world),
        evaluations_(static_cast<std::size_t>(settings.evaluations)),
        in_flight_(static_cast<std::size_t>(settings.in_flight)) {}

  std::vector<double> run() {
    begin_root();
    while (!spent()) {
      while (under_way_.size() < in_flight_ && propose()) {
      }
      if (under_way_.empty()) {
        break;
      }
      const NodeId id = under_way_.front();
      under_way_.pop_front();
      take(id, world_.judge(static_cast<std::size_t>(id)));
    }
    return std::move(curve_);
  }

 private:
  [[nodiscard]] bool spent() const { return curve_.size() >= evaluations_; }
  [[nodiscard]] std::int64_t left() const {
    return static_cast<std::int64_t>(evaluations_) - std::ssize(curve_) - std::ssize(under_way_);
  }

  // A run has a baseline that passes; a draw that fails is an evaluation all the same.
  void begin_root() {
    while (!spent() && born_ == 0) {
      const std::optional<PlayedProgram> start = world_.draw_start();
      if (!start) {
        return;
      }
      if (start->result.outcome != Outcome::passed) {
        count(*start);
        continue;
      }
      search_.begin(root_node, no_node);
      take(root_node, *start);
      ++born_;
    }
  }

  // False: there is nothing to try now.
  bool propose() {
    while (const std::optional<Choice> choice = search_.ask(left())) {
      const auto parent = static_cast<std::size_t>(choice->parent);
      TreeWorld::Proposed proposed = world_.propose(parent);
      for (int i = 1; i < most_repetitions && proposed == TreeWorld::Proposed::repetition; ++i) {
        proposed = world_.propose(parent);
      }
      if (proposed != TreeWorld::Proposed::program) {
        search_.close(choice->parent, "nothing is left");
        continue;
      }
      const auto id = static_cast<NodeId>(born_++);
      search_.begin(id, choice->parent);
      under_way_.push_back(id);
      return true;
    }
    return false;
  }

  void take(NodeId id, PlayedProgram program) {
    count(program);
    program.result.node = id;
    search_.tell(program.result);
  }

  // The best by the times that the search saw, at the share that it is scored by.
  void count(const PlayedProgram& program) {
    if (program.result.outcome == Outcome::passed && program.seen_time < best_) {
      best_ = program.seen_time;
      share_ = program.share;
    }
    curve_.push_back(share_);
  }

  Search& search_;
  TreeWorld& world_;
  std::size_t evaluations_;
  std::size_t in_flight_;
  std::size_t born_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  double share_ = 0;
  std::vector<double> curve_;
  std::deque<NodeId> under_way_;
};

}  // namespace

std::vector<double> play_tree(const PlaySettings& settings, Search& search, TreeWorld& world) {
  return TreePlay(settings, search, world).run();
}

}  // namespace kernelpro
