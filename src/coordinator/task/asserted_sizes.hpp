// What a function states of its sizes by assert.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kernelpro {

// One size is at least another: "lda >= k"; `more`: "n > k".
struct SizeOrder {
  std::string axis;
  std::string least;
  bool more = false;

  friend bool operator==(const SizeOrder&, const SizeOrder&) = default;
};

struct AssertedSizes {
  struct Bounds {
    std::int64_t low = 1;
    std::int64_t high = 0;  // 0: none
    std::int64_t step = 1;  // it is a multiple of that,
    std::int64_t rest = 0;  // and so much more: 1 of an odd size
  };

  std::map<std::string, Bounds> bounds;
  std::map<std::string, std::string> multiple_of;  // "n % k == 0"
  std::vector<SizeOrder> at_least;
  // "a == b": the first of `axes` that it is the same as. The others here speak of that one.
  std::map<std::string, std::string> equal;
  std::set<std::string> powers_of_two;  // "(n & (n - 1)) == 0"
};

// Of the asserts (and macros that are called like it) that every call of `function` comes to, as
// far as they speak of `axes` alone, of numbers and of constants of the file. What holds only
// together with something else ("||", "!", "?") and what is not understood is passed over.
[[nodiscard]] AssertedSizes asserted_sizes(const std::string& source, const std::string& function,
                                           const std::vector<std::string>& axes);

}  // namespace kernelpro
