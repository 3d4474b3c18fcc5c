// Shared objects and cubins by the hash of all that went into them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/base/result.hpp"
#include "common/model/certificate.hpp"

namespace kernelpro {

struct CachedBuild {
  std::filesystem::path library;
  BuildRecord record;
  std::string diagnostics;  // warnings of the build
};

// <folder>/<key>.so (or .cubin) with its record in <key>.json. Several processes may use one
// folder: entries appear whole, and a mix of two builders' files is found by its hash.
class BuildCache {
 public:
  // Makes the folder; an io error names it and says what to do when that fails.
  [[nodiscard]] static Result<BuildCache> open(const std::filesystem::path& folder);

  // Nothing when there is no such entry, or when the object is not the one that was recorded.
  // `name` is the key with the extension of what is built.
  [[nodiscard]] std::optional<CachedBuild> find(const std::filesystem::path& name) const;
  [[nodiscard]] Result<CachedBuild> store(const std::filesystem::path& name,
                                          const std::string& binary, const BuildRecord& record,
                                          const std::string& diagnostics) const;

 private:
  explicit BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path folder_;
};

// `error` of a write below `folder`, with what the user can do about it.
[[nodiscard]] Error cache_error(const Error& error, const std::filesystem::path& folder);

}  // namespace kernelpro
