#include "common/model/node.hpp"

#include <algorithm>

#include "common/model/enum_names.hpp"

namespace kernelpro {

namespace {

constexpr std::array<std::string_view, 5> bottleneck_names = {"unknown", "memory", "compute",
                                                              "latency", "overhead"};
static_assert(bottleneck_names.size() == static_cast<std::size_t>(Bottleneck::overhead) + 1);

constexpr std::array<std::string_view, 5> state_names = {"in_flight", "judged", "duplicate",
                                                         "proposing", "unwritten"};
static_assert(state_names.size() == static_cast<std::size_t>(NodeState::unwritten) + 1);

}  // namespace

std::vector<std::string> learned_from(const std::vector<std::string>& reasons) {
  std::vector<std::string> places;
  for (const std::string& reason : reasons) {
    const std::string place =
        reason.starts_with(learned_prefix) ? reason.substr(learned_prefix.size()) : "";
    if (!place.empty() && std::find(places.begin(), places.end(), place) == places.end()) {
      places.push_back(place);
    }
  }
  return places;
}

std::string_view name_of(Bottleneck bottleneck) {
  return enum_name(bottleneck_names, bottleneck);
}

std::optional<Bottleneck> parse_bottleneck(std::string_view name) {
  return find_enum<Bottleneck>(bottleneck_names, name);
}

std::string_view name_of(NodeState state) {
  return enum_name(state_names, state);
}

std::optional<NodeState> parse_node_state(std::string_view name) {
  return find_enum<NodeState>(state_names, name);
}

}  // namespace kernelpro
