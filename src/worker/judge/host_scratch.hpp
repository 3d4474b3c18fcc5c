// The workspaces of all calls of a round on a processor.
#pragma once

#include <cstddef>
#include <memory>

#include "worker/judge/ground.hpp"

namespace kernelpro {

// `bytes` for each of so many sets. An error where all together would take more than half of the
// memory that is available.
[[nodiscard]] Result<std::unique_ptr<Scratch>> make_host_scratch(std::size_t bytes, int sets);

}  // namespace kernelpro
