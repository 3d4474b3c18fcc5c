// What a request asks, and the settings it is asked with.
#pragma once

#include <string>

namespace kernelpro {

// SHA-256 of what the body of a request asks, in the form of any provider: without its model, its
// temperature, the limit of its answer and how that is sent.
[[nodiscard]] std::string prompt_hash(const std::string& body);

// `kept` as it is, with model, temperature and limit as `wanted` has them. The same bytes where
// these are the same, however the limit is called.
[[nodiscard]] std::string with_settings_of(const std::string& kept, const std::string& wanted);

}  // namespace kernelpro
