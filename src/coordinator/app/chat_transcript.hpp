// The calls of a run as conversations with what came of them: data to train on.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"

namespace kernelpro {

struct ChatFilters {
  bool verified = false;  // only those whose candidate passed, in a sandbox and beyond doubt
  bool unique = false;    // of equal candidates and equal conversations the first alone
};

// One line of JSON a conversation (schemas/chat_line.json). An error where none is left.
[[nodiscard]] Result<std::string> chat_transcript(const std::filesystem::path& store,
                                                  const std::string& run,
                                                  const ChatFilters& filters);

}  // namespace kernelpro
