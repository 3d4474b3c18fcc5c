// What a Store holds. For the files of this room only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/store/database.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

struct Store::Inner {
  Inner(std::filesystem::path place, store::Database opened, std::vector<std::string> said)
      : directory(std::move(place)), database(std::move(opened)), notices(std::move(said)) {}

  // The key of a run's row. A bad_input error names the runs there are.
  [[nodiscard]] Result<std::int64_t> run_key(const std::string& run);
  [[nodiscard]] Error unknown_run(const std::string& run);

  // JSON that many rows share, by its hash.
  [[nodiscard]] Status keep_document(const std::string& hash, const std::string& json);
  [[nodiscard]] Result<std::string> find_document(const std::string& hash);

  // Writes sources at once, the rest into the transaction under way.
  [[nodiscard]] Status keep_certificate(std::int64_t run, NodeId node,
                                        const Certificate& certificate);
  [[nodiscard]] Result<std::optional<Certificate>> find_certificate(std::int64_t run, NodeId node);
  // The text after which the certificates of a run are packed; empty while there is none.
  [[nodiscard]] Result<std::string> find_model(std::int64_t run);

  // What the paths of runs are seen from: the folder that the store lies in.
  [[nodiscard]] std::filesystem::path folder() const {
    std::error_code failed;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(directory, failed), failed)
        .parent_path();
  }

  std::filesystem::path directory;
  store::Database database;
  std::vector<std::string> notices;
  std::map<std::int64_t, std::string> models;  // those read so far, by the key of the run
};

}  // namespace kernelpro
