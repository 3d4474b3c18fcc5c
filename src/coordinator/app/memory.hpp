// What is remembered of all runs: looked at, carried elsewhere, taken out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/memory/exchange.hpp"
#include "coordinator/memory/memory.hpp"
#include "coordinator/store/lesson_json.hpp"

namespace kernelpro {

struct MemoryRequest {
  std::filesystem::path store;
  std::filesystem::path file;  // another memory than the store's; empty: that
  memory::MemoryFilter filter;
  std::string run;  // show: what that run was told instead
};

struct MemoryShown {
  std::filesystem::path file;
  memory::MemorySummary summary;
  std::vector<Lesson> lessons;
  std::vector<LearnedFact> facts;
};

[[nodiscard]] Result<MemoryShown> show_memory(const MemoryRequest& request);
[[nodiscard]] nlohmann::json to_json(const MemoryShown& shown);

// What a run was told; an error where it was never told anything.
[[nodiscard]] Result<Recollection> show_recollection(const MemoryRequest& request);

// The file as text, JSON lines.
[[nodiscard]] Result<std::string> export_memory(const MemoryRequest& request);

struct MemoryImported {
  std::string file;
  std::size_t lessons = 0;
  std::size_t facts = 0;
  bool known = false;  // it was taken in before, and is not counted twice
};

// All files are read and checked before anything is taken in.
[[nodiscard]] Result<std::vector<MemoryImported>> import_memory(
    const MemoryRequest& request, const std::vector<std::filesystem::path>& files);
[[nodiscard]] nlohmann::json to_json(const std::vector<MemoryImported>& imported);

[[nodiscard]] Result<memory::MemorySummary> forget_memory(const MemoryRequest& request,
                                                          const memory::ForgetWishes& wishes,
                                                          bool only_count);
[[nodiscard]] nlohmann::json to_json(const memory::MemorySummary& summary);

}  // namespace kernelpro
