// What a file is for, as its name tells.
#pragma once

#include <string_view>

namespace kernelpro::code {

// Kept as numbers. A script is in another language than candidates are written in.
enum class FileKind { example, source, internal, test, document, script };

[[nodiscard]] std::string_view name_of(FileKind kind);

// `path` is seen from the folder that is indexed, with `/` between its parts.
[[nodiscard]] FileKind kind_of(std::string_view path);

// Whether files of this name are read: C, C++, CUDA, PTX, Python and documents about them.
[[nodiscard]] bool is_read(std::string_view path);

}  // namespace kernelpro::code
