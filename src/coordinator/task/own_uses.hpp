// What a function's body refers to and does not own.
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace kernelpro {

struct OwnUses {
  std::string global;            // a variable that can change between calls
  std::string outside;           // a function that reads, prints or asks
  bool accumulates = false;      // `sum += x` on a floating variable
  std::set<std::string> called;  // functions by their last names
};

// `function` is a node of clang's tree.
[[nodiscard]] OwnUses uses_of(const nlohmann::json& function);

// Whether it indexes the parameter with that identity, or moves it: then it leads to several
// elements.
[[nodiscard]] bool is_array(const nlohmann::json& function, const std::string& id);

}  // namespace kernelpro
