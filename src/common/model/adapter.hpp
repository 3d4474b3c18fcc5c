// The marked lines by which a source with an entry of its own becomes a candidate.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

// The first line: an include, because nothing may be included behind the author's own source.
inline constexpr std::string_view adapter_head =
    "#include \"kernelpro/candidate.h\"  // kp:adapter\n";
// The lines around the block behind it that defines kp_launch.
inline constexpr std::string_view adapter_begin = "// kp:adapter begin\n";
inline constexpr std::string_view adapter_end = "// kp:adapter end\n";

struct AdaptedSource {
  std::string own;    // the author's lines
  std::string block;  // from adapter_begin through adapter_end
};

// Takes the adapter off; nothing where the source does not have the marked lines, each once.
[[nodiscard]] std::optional<AdaptedSource> take_adapter_off(const std::string& source);

// Where the block begins; the source's size where there is none.
[[nodiscard]] std::size_t adapter_place(const std::string& source);

}  // namespace kernelpro
