// Whole numbers that the code only compares with a few others.
#pragma once

#include <string>
#include <vector>

#include "coordinator/task/own_type.hpp"

namespace kernelpro {

// What a parameter of `function` ("mode", or "image.mode" of a struct) is one of: what it must be
// by an assert ("bits == 1 || bits == 8"), the largest first; else all that it is compared with by
// ==, != or `case`, where nothing else is done with it, also by functions of the file that it is
// passed to, and one more number where these are told from all others. Empty: any number may do.
[[nodiscard]] std::vector<Enumerator> few_numbers(const std::string& source,
                                                  const std::string& function,
                                                  const std::string& parameter);

// The same of the elements of an array, which are only compared ("switch (kinds[i])", "if
// (mask[k])", also behind a pointer of its own): what those are drawn from.
[[nodiscard]] std::vector<Enumerator> few_elements(const std::string& source,
                                                   const std::string& function,
                                                   const std::string& array);

}  // namespace kernelpro
