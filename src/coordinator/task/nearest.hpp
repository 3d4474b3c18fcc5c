// The name a user probably meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace kernelpro {

// The known name within two edits of `name` (one for names of up to three letters).
[[nodiscard]] std::optional<std::string> nearest(const std::string& name,
                                                 const std::vector<std::string>& known);

// `; did you mean "shape"?` when a known name is near; otherwise `; known are "a", "b"`, or nothing
// when none is known.
[[nodiscard]] std::string suggest(const std::string& name, const std::vector<std::string>& known);

}  // namespace kernelpro
