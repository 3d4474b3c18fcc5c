// A bundle: the worker's lines as files. One file holds a header and then requests; the other, its
// results, a header and then replies, in the order in which they were finished. Each line is
// sealed.
//
//   {"format":"kernelpro-bundle","v":1,"owner":"gemm-1 of 2026-…","part":2,"requests":18}
//   {"format":"kernelpro-results","v":1,"owner":"gemm-1 of 2026-…","part":2,"requests":18}
//
// Parts of one owner count up, and a part is written only after all results of the one before were
// taken in: results of an earlier part may be thrown away.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"

namespace kernelpro {

inline constexpr int bundle_version = 1;

struct BundleHeader {
  std::string owner;  // whose requests these are, unlike anybody else's
  std::int64_t part = 1;
  std::int64_t requests = 0;

  bool operator==(const BundleHeader&) const = default;
};

// Lines with their newline.
[[nodiscard]] std::string bundle_header_line(const BundleHeader& header);
[[nodiscard]] std::string results_header_line(const BundleHeader& header);

// bad_input when the line is something else, or of another version: then the message has both.
[[nodiscard]] Result<BundleHeader> parse_bundle_header(const std::string& line);
[[nodiscard]] Result<BundleHeader> parse_results_header(const std::string& line);

// The lines of `text` without their newlines; what follows the last newline was cut off and is
// none.
[[nodiscard]] std::vector<std::string> whole_lines(std::string_view text);

}  // namespace kernelpro
