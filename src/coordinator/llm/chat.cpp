#include "coordinator/llm/chat.hpp"

#include "common/model/enum_names.hpp"

namespace kernelpro {
namespace {

// Indexed by the enumerator.
constexpr std::array<std::string_view, 6> stop_reason_names = {"done",      "length",  "tool_calls",
                                                               "stop_text", "refusal", "other"};
static_assert(stop_reason_names.size() == static_cast<std::size_t>(StopReason::other) + 1);

}  // namespace

std::string_view name_of(StopReason reason) {
  return enum_name(stop_reason_names, reason);
}

}  // namespace kernelpro
