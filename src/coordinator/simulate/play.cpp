#include "coordinator/simulate/play.hpp"

#include <fmt/format.h>

#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <memory>

#include "coordinator/search/search.hpp"
#include "coordinator/simulate/play_streams.hpp"
#include "coordinator/simulate/worlds.hpp"
#include "coordinator/tune/tuner.hpp"

namespace kernelpro {

namespace {

using MakePoints =
    std::function<std::unique_ptr<PointSearch>(const TuneSpace& space, std::uint64_t seed)>;

const std::map<std::string, MakePoints>& point_players() {
  static const std::map<std::string, MakePoints> known = {
      {"uniform", [](const TuneSpace& space,
                     std::uint64_t seed) { return std::make_unique<UniformDraws>(space, seed); }},
      {"tuner", [](const TuneSpace& space,
                   std::uint64_t seed) { return std::make_unique<Tuner>(space, seed); }},
  };
  return known;
}

Result<std::unique_ptr<Search>> tree_player(const std::string& name, std::uint64_t seed) {
  const std::size_t colon = name.find(':');
  return make_search(name.substr(0, colon),
                     colon == std::string::npos ? "default" : name.substr(colon + 1), seed);
}

std::vector<double> play_in(const PlaySettings& settings, TreeWorld& world) {
  Result<std::unique_ptr<Search>> search =
      tree_player(settings.player, counter_hash(settings.seed, searching));
  return search ? play_tree(settings, **search, world) : std::vector<double>();
}

// The judge, and the best so far.
class PointScore {
 public:
  PointScore(const PlaySettings& settings, const Landscape& landscape, const Scores& scores)
      : judge_(landscape, counter_hash(settings.seed, judging)),
        scores_(scores),
        evaluations_(static_cast<std::size_t>(settings.evaluations)) {}

  [[nodiscard]] bool spent() const { return curve_.size() >= evaluations_; }

  std::optional<double> judge(std::uint64_t place) {
    const std::optional<double> time = judge_.time(place);
    if (time && *time < best_) {
      best_ = *time;
      share_ = scores_.share(place);
    }
    curve_.push_back(share_);
    return time;
  }
  std::vector<double> take() { return std::move(curve_); }

 private:
  ReplayJudge judge_;
  const Scores& scores_;
  std::size_t evaluations_;
  double best_ = std::numeric_limits<double>::infinity();
  double share_ = 0;
  std::vector<double> curve_;
};

std::vector<double> play_points(const PlaySettings& settings, const Landscape& landscape,
                                PointSearch& search, PointScore score) {
  std::deque<Code> under_way;
  for (;;) {
    while (std::ssize(under_way) < settings.in_flight) {
      const std::optional<Code> next = search.ask();
      if (!next) {
        break;
      }
      under_way.push_back(*next);
    }
    if (under_way.empty() || score.spent()) {
      return score.take();
    }
    const Code code = under_way.front();
    under_way.pop_front();
    search.tell({code, score.judge(landscape.space.place_of(code))});
  }
}

}  // namespace

Status check_player(const std::string& name, const AnyLandscape& landscape) {
  const bool configurations = std::holds_alternative<Landscape>(landscape);
  if (point_players().contains(name)) {
    return configurations
               ? Status()
               : Status(make_error(ErrorKind::bad_input,
                                   fmt::format("\"{}\" chooses configurations, and \"{}\" "
                                               "has none: it is a tree",
                                               name, name_of(landscape))));
  }
  const Result<std::unique_ptr<Search>> search = tree_player(name, 0);
  return search ? Status()
                : Status(make_error(
                      ErrorKind::bad_input,
                      search.error().message + R"(, "NAME:PRESET", or one of "tuner", "uniform")"));
}

std::vector<double> play(const PlaySettings& settings, const Landscape& landscape,
                         const Scores& scores) {
  if (const auto points = point_players().find(settings.player); points != point_players().end()) {
    const std::unique_ptr<PointSearch> search =
        points->second(landscape.space, counter_hash(settings.seed, searching));
    return play_points(settings, landscape, *search, PointScore(settings, landscape, scores));
  }
  return play_in(settings, *configuration_world(landscape, scores, settings.seed));
}

std::vector<double> play(const PlaySettings& settings, const AgentLandscape& landscape) {
  return play_in(settings, *agent_world(landscape, settings.seed));
}

}  // namespace kernelpro
