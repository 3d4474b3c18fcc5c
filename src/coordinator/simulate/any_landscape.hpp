// A landscape of any kind.
#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "coordinator/simulate/agent_tree.hpp"
#include "coordinator/simulate/landscape.hpp"

namespace kernelpro {

using AnyLandscape = std::variant<Landscape, AgentLandscape>;

[[nodiscard]] const std::string& name_of(const AnyLandscape& landscape);
// Packed by gzip or not. Errors name the file.
[[nodiscard]] Result<AnyLandscape> read_landscape(const std::filesystem::path& path);

}  // namespace kernelpro
