// What an argument of a prompt or of a resource's address may be, while a person types it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro::mcp {

struct TypedArgument {
  std::string name;
  std::string value;                         // as far as it was typed
  std::map<std::string, std::string> known;  // arguments that were chosen before
};

// The values that begin so, in the order of the alphabet; numbers in theirs. None where nothing is
// known of such an argument.
[[nodiscard]] std::vector<std::string> completions(const TypedArgument& typed,
                                                   const std::filesystem::path& store);

}  // namespace kernelpro::mcp
