// Parameters of a request that some servers and models refuse. Such a refusal costs nothing, and
// the same request without them is taken.
#pragma once

#include <optional>
#include <string>

namespace kernelpro {

struct LeftOut {
  bool limit_name = false;  // the limit of tokens goes by its other name
  bool temperature = false;
  bool stream_options = false;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

[[nodiscard]] LeftOut both(const LeftOut& one, const LeftOut& other);

// A request's body as it is sent when that is left out of it.
[[nodiscard]] std::string body_without(const LeftOut& left_out, const std::string& body);

// What to leave out next of `sent`, which got an answer with this status and body, beside what was
// left out already. Nothing where the answer refuses none of these.
[[nodiscard]] std::optional<LeftOut> leave_out_next(const LeftOut& left_out,
                                                    const std::string& sent, int status,
                                                    const std::string& answer);

}  // namespace kernelpro
