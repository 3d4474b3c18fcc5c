#include "coordinator/loop/candidate_name.hpp"

#include <charconv>
#include <string_view>

namespace kernelpro {

namespace {

constexpr std::string_view prefix = "node ";

}  // namespace

std::string candidate_name(NodeId id) {
  return id == root_node ? "baseline" : std::string(prefix) + std::to_string(id);
}

NodeId node_named(const std::string& name) {
  NodeId id = root_node;
  if (name.starts_with(prefix)) {
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(), id);
  }
  return id;
}

}  // namespace kernelpro
