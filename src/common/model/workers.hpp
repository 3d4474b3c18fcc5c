// Who judges: a worker that is started here, or one that gets its jobs and gives its results by
// files.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpro {

enum class WorkerScheme {
  local,   // started on this machine
  bundle,  // jobs are written into the file, results come back in FILE.out
  replay,  // the results of such a run once more
};

struct Workers {
  WorkerScheme scheme = WorkerScheme::local;
  std::filesystem::path file;  // of a bundle or a recording, with its whole path in a run

  friend bool operator==(const Workers&, const Workers&) = default;
};

// "local", "bundle:FILE" or "replay:FILE", and back.
[[nodiscard]] std::string text_of(const Workers& workers);
[[nodiscard]] std::optional<Workers> parse_workers(std::string_view text);

// `"local", "bundle:FILE" or "replay:FILE"`: what is expected, for messages.
[[nodiscard]] std::string worker_forms();

}  // namespace kernelpro
