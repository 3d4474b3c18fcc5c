// A run and its memory: what it is told of other runs, and what it teaches them.
#pragma once

#include <filesystem>
#include <string>

#include "common/base/result.hpp"
#include "coordinator/app/open_run.hpp"
#include "coordinator/app/progress.hpp"
#include "coordinator/loop/partners.hpp"

namespace kernelpro {

inline constexpr const char* memory_on = "on";
inline constexpr const char* memory_off = "off";
inline constexpr const char* memory_of_run = "run:";

// The file that the setting means; empty: none, or the lessons that another run was told.
[[nodiscard]] std::filesystem::path memory_place(const std::string& setting,
                                                 const std::filesystem::path& store);

// The setting as a run keeps it. A replay of recorded answers is told nothing, since it is to
// propose what was proposed before; a file or a run that is named counts nevertheless.
[[nodiscard]] std::string memory_setting(const RunSettings& settings);

// Whatever is wrong with a memory is told as a remark, and the run goes on without it.
class RunMemory : public LessonSource {
 public:
  // All must outlive it.
  RunMemory(const OpenRun& open, const Watcher& watcher) : open_(open), watcher_(watcher) {}

  [[nodiscard]] Recollection recall(const Certificate& baseline) override;

  // Adds what the run has measured since the last time.
  void teach() const;

 private:
  [[nodiscard]] Result<Recollection> find_lessons(const Certificate& baseline) const;
  [[nodiscard]] Status add_lessons() const;
  void complain(const Error& error, const char* what) const;

  const OpenRun& open_;
  const Watcher& watcher_;
};

}  // namespace kernelpro
