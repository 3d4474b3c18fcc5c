// What a run has learned so far: a pure function of its ended nodes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "coordinator/propose/agents/order.hpp"

namespace kernelpro::agents {

enum class MemoryKind {
  repeated_error,  // the same failure more than once
  discovery,       // what gained or lost, what is not there
  plateau,         // nothing has gained for a while
};

[[nodiscard]] std::string_view name_of(MemoryKind kind);

struct MemoryLine {
  MemoryKind kind = MemoryKind::discovery;
  bool measured = true;       // else inferred from what was
  std::vector<NodeId> nodes;  // the evidence, by id
  std::string text;           // one line
};

// At most `most`, those with the newest evidence last; the oldest are dropped.
[[nodiscard]] std::vector<MemoryLine> remember(const std::vector<Tried>& all,
                                               std::size_t most = 24);

// Of these, what failures say is not there: headers, interfaces, build options, precision.
[[nodiscard]] std::vector<MemoryLine> absences(const std::vector<Tried>& all);

}  // namespace kernelpro::agents
