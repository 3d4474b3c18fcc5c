// The folder of a store and what lies in it. For rooms that keep something there, and
// their tests.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace kernelpro::store {

[[nodiscard]] std::filesystem::path database_file(const std::filesystem::path& directory);
[[nodiscard]] std::filesystem::path lock_file(const std::filesystem::path& directory,
                                              const std::string& run);

// The name of the network file system that statfs gives this number to ("nfs"); nothing for local
// and unknown ones.
[[nodiscard]] std::optional<std::string_view> network_file_system(std::uint32_t magic);
[[nodiscard]] std::optional<std::string_view> network_file_system_of(
    const std::filesystem::path& directory);

// Makes the folders; an error says which other place to choose.
[[nodiscard]] Status make_place(const std::filesystem::path& directory);

// Where the source of that hash is kept, seen from the folder.
[[nodiscard]] std::filesystem::path source_place(const std::string& hash);

// Sources are kept by the SHA-256 of their bytes; writing one that is there does nothing.
[[nodiscard]] Status write_source(const std::filesystem::path& directory, const std::string& hash,
                                  const std::string& source);
[[nodiscard]] Result<std::string> read_source(const std::filesystem::path& directory,
                                              const std::string& hash);
// Nothing where it is not there.
void remove_source(const std::filesystem::path& directory, const std::string& hash);

}  // namespace kernelpro::store
