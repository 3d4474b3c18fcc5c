// The commands about what is remembered of all runs.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/printable.hpp"
#include "coordinator/app/memory.hpp"
#include "coordinator/cli/commands.hpp"
#include "coordinator/cli/output.hpp"
#include "coordinator/report/table.hpp"
#include "coordinator/report/tools_table.hpp"

namespace kernelpro {

namespace {

constexpr std::int64_t lessons_shown = 20;

MemoryRequest memory_request(const Options& options) {
  MemoryRequest request = options.memory;
  request.store = options.node.store;
  return request;
}

std::string failures_of(const Tally& tally) {
  std::string text;
  for (const auto& [cause, count] : tally.causes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, cause);
  }
  return text;
}

// "1.84 (1.20 to 2.81)"; nothing where none passed.
std::string gain_of(const Tally& tally) {
  return tally.tried == tally.failed
             ? ""
             : fmt::format("{:.2f} ({:.2f} to {:.2f})", std::exp(tally.mean),
                           std::exp(tally.mean - tally.spread),
                           std::exp(tally.mean + tally.spread));
}

std::string move_and_site(const std::string& move, const std::string& site) {
  return site.empty() ? move : fmt::format("{}, {}", move, site);
}

void print_memory(const MemoryShown& shown) {
  const memory::MemorySummary& holds = shown.summary;
  fmt::print("{}: {} lessons in {} situations, {} facts, from {} runs\n\n",
             printable(shown.file.string()), holds.lessons, holds.situations, holds.facts,
             holds.runs);
  Table table({"move", "class", "tries", "gain", "failed", "held", "not", "age"});
  for (const Lesson& lesson : shown.lessons) {
    const Tally& tally = lesson.tally;
    table.add({move_and_site(lesson.move, lesson.site), lesson.bottleneck,
               fmt::format("{}", tally.tried), gain_of(tally), failures_of(tally),
               fmt::format("{:.1f}", lesson.confirmed), fmt::format("{:.1f}", lesson.contradicted),
               fmt::format("{}", lesson.age)});
  }
  fmt::print("{}", table.text());
  for (const LearnedFact& fact : shown.facts) {
    fmt::print("{} {}: {} ({} times)\n", name_of(fact.backend), fact.architecture,
               printable(fact.text), fact.seen);
  }
}

void print_recollection(const Recollection& told) {
  fmt::print("{} lessons, {} facts\n\n", told.lessons.size(), told.facts.size());
  Table table({"move", "class", "weight", "tries", "gain", "failed"});
  for (const Recalled& one : told.lessons) {
    table.add({move_and_site(one.move, one.site), one.bottleneck, fmt::format("{:.2f}", one.weight),
               fmt::format("{}", one.tally.tried), gain_of(one.tally), failures_of(one.tally)});
  }
  fmt::print("{}", table.text());
  for (const std::string& fact : told.facts) {
    fmt::print("{}\n", printable(fact));
  }
  if (!told.tools.empty()) {
    fmt::print("\nwhat findings led to before:\n{}", tools_table(told.tools));
  }
}

int show_told(const Options& options, const MemoryRequest& request) {
  const Result<Recollection> told = show_recollection(request);
  if (!told) {
    return report_error(options, told.error());
  }
  if (options.json) {
    print_json(to_json(*told));
  } else {
    print_recollection(*told);
  }
  return exit_done;
}

}  // namespace

int memory_show_command(const Options& options, std::stop_token /*stop*/) {
  MemoryRequest request = memory_request(options);
  if (!request.run.empty()) {
    return show_told(options, request);
  }
  request.filter.limit = request.filter.limit < 0 ? lessons_shown : request.filter.limit;
  const Result<MemoryShown> shown = show_memory(request);
  if (!shown) {
    return report_error(options, shown.error());
  }
  if (options.json) {
    print_json(to_json(*shown));
  } else {
    print_memory(*shown);
  }
  return exit_done;
}

int memory_export_command(const Options& options, std::stop_token /*stop*/) {
  const Result<std::string> text = export_memory(memory_request(options));
  if (!text) {
    return report_error(options, text.error());
  }
  if (options.into.empty()) {
    std::fwrite(text->data(), 1, text->size(), stdout);
    return exit_done;
  }
  if (const Status written = write_file_atomic(options.into, *text); !written) {
    return report_error(options, written.error());
  }
  return exit_done;
}

int memory_import_command(const Options& options, std::stop_token /*stop*/) {
  const Result<std::vector<MemoryImported>> done =
      import_memory(memory_request(options), options.lesson_files);
  if (!done) {
    return report_error(options, done.error());
  }
  if (options.json) {
    print_json(to_json(*done));
    return exit_done;
  }
  for (const MemoryImported& one : *done) {
    fmt::print("{}: {} lessons, {} facts{}\n", printable(one.file), one.lessons, one.facts,
               one.known ? ", taken in before" : "");
  }
  return exit_done;
}

int memory_forget_command(const Options& options, std::stop_token /*stop*/) {
  const Result<memory::MemorySummary> gone =
      forget_memory(memory_request(options), options.forget, options.dry_run);
  if (!gone) {
    return report_error(options, gone.error());
  }
  if (options.json) {
    print_json(to_json(*gone));
  } else {
    fmt::print("{} lessons and {} facts {}\n", gone->lessons, gone->facts,
               options.dry_run ? "would be forgotten" : "forgotten");
  }
  return exit_done;
}

}  // namespace kernelpro
