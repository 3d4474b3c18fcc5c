#include "common/model/node.hpp"

#include <array>
#include <utility>

namespace kernelpro {

namespace {

constexpr std::array<std::pair<Bottleneck, std::string_view>, 5> bottlenecks = {{
    {Bottleneck::unknown, "unknown"},
    {Bottleneck::memory, "memory"},
    {Bottleneck::compute, "compute"},
    {Bottleneck::latency, "latency"},
    {Bottleneck::overhead, "overhead"},
}};

constexpr std::array<std::pair<NodeState, std::string_view>, 3> states = {{
    {NodeState::in_flight, "in_flight"},
    {NodeState::judged, "judged"},
    {NodeState::duplicate, "duplicate"},
}};

template <typename Names, typename Value>
std::string_view find_name(const Names& names, Value value) {
  for (const auto& [known, name] : names) {
    if (known == value) {
      return name;
    }
  }
  return names.front().second;
}

template <typename Value, typename Names>
std::optional<Value> find_value(const Names& names, std::string_view name) {
  for (const auto& [value, known] : names) {
    if (known == name) {
      return value;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string_view name_of(Bottleneck bottleneck) {
  return find_name(bottlenecks, bottleneck);
}

std::optional<Bottleneck> parse_bottleneck(std::string_view name) {
  return find_value<Bottleneck>(bottlenecks, name);
}

std::string_view name_of(NodeState state) {
  return find_name(states, state);
}

std::optional<NodeState> parse_node_state(std::string_view name) {
  return find_value<NodeState>(states, name);
}

}  // namespace kernelpro
