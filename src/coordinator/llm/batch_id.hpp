// How a request of a batch is named: "<run>.<call>.<hash>", "gemm-1.7.coder.1.3fa9c2d1"; from the
// second attempt on with ".r2" behind it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kernelpro {

// How often a request is handed out when the answers are errors.
inline constexpr int batch_attempts = 3;

struct BatchId {
  std::string run;
  std::string call;  // "7.coder.1"
  std::string hash;  // of what is asked
  int attempt = 1;

  [[nodiscard]] std::string text() const;
};

// Nothing where it is no such name.
[[nodiscard]] std::optional<BatchId> parse_batch_id(std::string_view text);

// The first 8 hexadecimal digits of the hash of what the body asks (batch_body.hpp): a request
// keeps its name when another model is to answer it.
[[nodiscard]] std::string batch_hash(const std::string& body);
// The same of the whole body, as requests were named once; some may still be handed out.
[[nodiscard]] std::string whole_batch_hash(const std::string& body);

// Call and hash of requests that a run has made; "" for any hash.
using BatchIds = std::set<std::pair<std::string, std::string>>;

[[nodiscard]] bool is_known(const BatchIds& known, const BatchId& id);

}  // namespace kernelpro
