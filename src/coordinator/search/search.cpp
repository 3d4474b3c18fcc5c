#include "coordinator/search/search.hpp"

#include <fmt/format.h>

#include <functional>
#include <utility>

#include "coordinator/search/beam.hpp"
#include "coordinator/search/elites.hpp"
#include "coordinator/search/greedy.hpp"
#include "coordinator/search/horizon.hpp"
#include "coordinator/search/mcts.hpp"
#include "coordinator/search/random_search.hpp"

namespace kernelpro {
namespace {

struct Preset {
  std::string name;
  std::function<std::unique_ptr<Search>(std::uint64_t seed)> make;
};

struct Kind {
  std::string name;
  std::vector<Preset> presets;
};

// Only `random` and `elites` draw; the others break ties by age.
const std::vector<Kind>& kinds() {
  static const std::vector<Kind> known = {
      {"horizon", {{"default", [](std::uint64_t) { return std::make_unique<Horizon>(); }}}},
      {"mcts",
       {{"default", [](std::uint64_t) { return std::make_unique<Mcts>(default_rules()); }},
        {"steady", [](std::uint64_t) { return std::make_unique<Mcts>(steady_rules()); }},
        {"paper", [](std::uint64_t) { return std::make_unique<Mcts>(paper_rules()); }}}},
      {"greedy", {{"default", [](std::uint64_t) { return std::make_unique<Greedy>(); }}}},
      {"beam", {{"default", [](std::uint64_t) { return std::make_unique<Beam>(); }}}},
      {"elites", {{"default", [](std::uint64_t seed) { return std::make_unique<Elites>(seed); }}}},
      {"random",
       {{"default", [](std::uint64_t seed) { return std::make_unique<RandomSearch>(seed); }}}},
  };
  return known;
}

template <typename Named>
std::string list_names(const std::vector<Named>& all) {
  std::string text;
  for (const Named& one : all) {
    text += fmt::format(R"({}"{}")", text.empty() ? "" : ", ", one.name);
  }
  return text;
}

}  // namespace

Result<std::unique_ptr<Search>> make_search(const std::string& name, const std::string& preset,
                                            std::uint64_t seed) {
  for (const Kind& kind : kinds()) {
    if (kind.name != name) {
      continue;
    }
    for (const Preset& known : kind.presets) {
      if (known.name == preset) {
        return known.make(seed);
      }
    }
    return make_error(ErrorKind::bad_input,
                      fmt::format(R"(the search "{}" has no preset "{}"; choose one of {})", name,
                                  preset, list_names(kind.presets)));
  }
  return make_error(
      ErrorKind::bad_input,
      fmt::format(R"(there is no search "{}"; choose one of {})", name, list_names(kinds())));
}

}  // namespace kernelpro
