// A run of the store, with the node that the user means.
#pragma once

#include "common/base/result.hpp"
#include "coordinator/cli/options.hpp"
#include "coordinator/report/run_report.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// To look at, not to change.
[[nodiscard]] Result<Store> open_store(const Options& options);

// A run with one of its nodes: the one asked for, or the best.
struct ChosenNode {
  RunReport report;
  Node node;
};

[[nodiscard]] Result<ChosenNode> choose_node(const Options& options, const Store& store);

}  // namespace kernelpro
