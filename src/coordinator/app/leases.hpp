// Who may write a node: a file each beside the store, so that leases outlive any process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/node.hpp"

namespace kernelpro {

// What is given out. A run of the same name that was made at another time is another one.
struct Lease {
  std::string run;
  std::string created;
  NodeId node = root_node;
};

struct LeaseTaken {
  std::optional<std::string> token;  // none: somebody else has it
  std::string until;                 // UTC
};

// Half an hour for one holder; with `take_over` whoever has it loses it.
[[nodiscard]] Result<LeaseTaken> take_lease(const std::filesystem::path& store, const Lease& lease,
                                            bool take_over);

// An error where somebody else has the lease now. One that ran out is good until then.
[[nodiscard]] Status check_lease(const std::filesystem::path& store, const Lease& lease,
                                 const std::string& token);

}  // namespace kernelpro
