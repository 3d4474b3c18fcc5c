// A source with its code put into a namespace, so that the compiler's dump can be narrowed to it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace kernelpro {

inline constexpr const char* scope_name = "kp_scope";

struct Insertion {
  std::size_t at = 0;  // in the original
  std::size_t length = 0;
};

struct ScopedSource {
  std::string text;
  std::vector<Insertion> insertions;  // in order
  std::size_t head = 0;               // how much of the original is text and includes at the top

  // The place in the original of a place in `text`.
  [[nodiscard]] std::size_t original(std::size_t offset) const;
};

// Includes at the top stay outside the namespace; it is closed before and opened again after each
// later include outside of all braces. Line numbers in diagnostics stay those of the original.
[[nodiscard]] ScopedSource put_in_scope(const std::string& source);

// Where the code that starts at `at` goes on behind blanks and comments.
[[nodiscard]] std::size_t skip_blanks(const std::string& source, std::size_t at);

}  // namespace kernelpro
