// What candidates run on. What a new backend needs: docs/where-to-change.md.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

enum class Backend { cpu, cuda };

inline constexpr std::array backends = {Backend::cpu, Backend::cuda};

struct BackendTraits {
  std::string_view name;       // in files, options and messages
  std::string_view extension;  // of a source
  std::string_view language;   // of a block of code
  std::string_view language_name;
  std::string_view compiler;  // of a source that names none; empty: the worker's first
  bool gpu = false;           // devices beside the processors: counted, profiled, timed apart
};

[[nodiscard]] const BackendTraits& traits_of(Backend backend);

[[nodiscard]] std::string name_of(Backend backend);
[[nodiscard]] std::optional<Backend> parse_backend(std::string_view name);
[[nodiscard]] std::vector<std::string> backend_names();

}  // namespace kernelpro
