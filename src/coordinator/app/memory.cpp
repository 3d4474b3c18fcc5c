#include "coordinator/app/memory.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"

namespace kernelpro {

namespace {

namespace fs = std::filesystem;
using memory::Exchanged;
using memory::Memory;

fs::path file_of(const MemoryRequest& request) {
  return request.file.empty() ? memory::memory_file(request.store) : request.file;
}

}  // namespace

Result<MemoryShown> show_memory(const MemoryRequest& request) {
  MemoryShown out;
  out.file = file_of(request);
  KP_LET(Memory memory, Memory::open(out.file, StoreMode::read));
  KP_LET(out.summary, memory.summary());
  KP_LET(out.lessons, memory.lessons(request.filter));
  KP_LET(out.facts, memory.facts());
  return out;
}

nlohmann::json to_json(const memory::MemorySummary& summary) {
  return {{"lessons", summary.lessons},
          {"situations", summary.situations},
          {"facts", summary.facts},
          {"runs", summary.runs}};
}

nlohmann::json to_json(const MemoryShown& shown) {
  nlohmann::json lessons = nlohmann::json::array();
  for (const Lesson& lesson : shown.lessons) {
    lessons.push_back(to_json(lesson));
  }
  nlohmann::json facts = nlohmann::json::array();
  for (const LearnedFact& fact : shown.facts) {
    facts.push_back(to_json(fact));
  }
  return {{"file", shown.file.string()},
          {"holds", to_json(shown.summary)},
          {"lessons", std::move(lessons)},
          {"facts", std::move(facts)}};
}

Result<Recollection> show_recollection(const MemoryRequest& request) {
  KP_LET(const Store store, Store::open(request.store, StoreMode::read));
  KP_LET(std::optional<Recollection> told, store.load_recollection(request.run));
  if (!told) {
    return make_error(ErrorKind::bad_input,
                      "it was told nothing of other runs: it has not proposed anything, or has "
                      "--memory off",
                      "run " + request.run);
  }
  return std::move(*told);
}

Result<std::string> export_memory(const MemoryRequest& request) {
  KP_LET(Memory memory, Memory::open(file_of(request), StoreMode::read));
  Exchanged content;
  KP_LET(content.lessons, memory.lessons());
  KP_LET(content.facts, memory.facts());
  return memory::to_lines(content);
}

Result<std::vector<MemoryImported>> import_memory(const MemoryRequest& request,
                                                  const std::vector<fs::path>& files) {
  struct Read {
    Exchanged content;
    std::string hash;
  };
  std::vector<Read> all;
  for (const fs::path& file : files) {
    const Result<std::string> text = read_file(file);
    if (!text) {
      return make_error(ErrorKind::bad_input, text.error().text());
    }
    KP_LET(Exchanged content, memory::from_lines(*text, file.string()));
    all.push_back({std::move(content), sha256(*text)});
  }
  KP_LET(Memory memory, Memory::open(file_of(request), StoreMode::write));
  std::vector<MemoryImported> out;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Exchanged& content = all[i].content;
    KP_LET(const bool added, memory.add(content.lessons, content.facts, all[i].hash));
    out.push_back({files[i].string(), content.lessons.size(), content.facts.size(), !added});
  }
  return out;
}

nlohmann::json to_json(const std::vector<MemoryImported>& imported) {
  nlohmann::json out = nlohmann::json::array();
  for (const MemoryImported& one : imported) {
    out.push_back(
        {{"file", one.file}, {"lessons", one.lessons}, {"facts", one.facts}, {"known", one.known}});
  }
  return {{"files", std::move(out)}};
}

Result<memory::MemorySummary> forget_memory(const MemoryRequest& request,
                                            const memory::ForgetWishes& wishes, bool only_count) {
  // A memory that is not there is not made to be emptied.
  KP_TRY(Memory::open(file_of(request), StoreMode::read));
  KP_LET(Memory memory, Memory::open(file_of(request), StoreMode::write));
  return memory.forget(wishes, only_count);
}

}  // namespace kernelpro
