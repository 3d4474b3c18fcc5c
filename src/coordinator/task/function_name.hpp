// Names of functions as a user writes them and as the compiler mangles them.
#pragma once

#include <string>
#include <vector>

namespace kernelpro {

// "blur" of "image::blur", "axpy" of "axpy<float>".
[[nodiscard]] std::string plain_name(const std::string& function);

// "f::blur" and the parameters' types of "f::blur(Img const&, int)".
struct Demangled {
  std::string name;
  std::vector<std::string> types;
};

[[nodiscard]] Demangled take_apart_name(const std::string& mangled);

}  // namespace kernelpro
