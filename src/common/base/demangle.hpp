// A function's name as its author wrote it. In a header, because the runner takes no code of ours.
#pragma once

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace kernelpro {

// `name` itself when it is no mangled function.
[[nodiscard]] inline std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) {
    return name;  // "i" is a mangled type
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : name;
}

}  // namespace kernelpro
