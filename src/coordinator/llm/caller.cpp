#include "coordinator/llm/caller.hpp"

#include <fmt/format.h>

namespace kernelpro {

std::string CallName::id() const {
  return fmt::format("{}.{}.{}", node, name_of(role), turn);
}

}  // namespace kernelpro
