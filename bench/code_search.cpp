// How well and how fast an index of code answers, as one JSON value on standard output.
//
//   cmake --build build/release --target code_search
//   build/release/bin/code_search CUTLASS > bench/results/code_search-NAME.json
//
// Arguments: a checkout, and a file of questions (default bench/code_search/questions.json).
// Indexes the checkout in a fresh store, again without a change, and asks each question. CPU
// seconds are this process and those it waited for: on a busy machine they say more than the clock.
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/code.hpp"
#include "coordinator/code/index_file.hpp"
#include "coordinator/code/symbols.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr int first_few = 5;

double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage used{};
    getrusage(who, &used);
    for (const timeval& time : {used.ru_utime, used.ru_stime}) {
      sum += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    }
  }
  return sum;
}

struct Timed {
  double wall = 0;
  double cpu = 0;
};

template <typename Work>
Timed timed(const Work& work) {
  const std::int64_t start = now_ns();
  const double cpu = cpu_seconds();
  work();
  return {.wall = static_cast<double>(now_ns() - start) / 1e9, .cpu = cpu_seconds() - cpu};
}

json to_json(const Timed& time) {
  return {{"wall_seconds", time.wall}, {"cpu_seconds", time.cpu}};
}

bool answers(const std::string& file, const json& expected) {
  const std::string path = file.substr(file.find('/') + 1);
  return std::any_of(expected.begin(), expected.end(), [&path](const json& one) {
    const std::string name = one.get<std::string>();
    return name.back() == '/' ? path.starts_with(name) : path == name;
  });
}

// The place of the first hit that answers, from 1; 0: none.
int place_of_answer(const std::vector<code::Hit>& hits, const json& expected) {
  const auto found = std::find_if(hits.begin(), hits.end(), [&expected](const code::Hit& hit) {
    return answers(hit.file, expected);
  });
  return found == hits.end() ? 0 : static_cast<int>(found - hits.begin()) + 1;
}

json ask_all(const fs::path& store, const json& questions) {
  json asked = json::array();
  std::vector<double> walls;
  int found = 0;
  double cpu = 0;
  for (const json& question : questions) {
    std::vector<code::Hit> hits;
    const Timed time =
        timed([&] { hits = must(search_code(store, question.at("ask").get<std::string>(), 10)); });
    const int place = place_of_answer(hits, question.at("answers"));
    found += place >= 1 && place <= first_few ? 1 : 0;
    walls.push_back(time.wall);
    cpu += time.cpu;
    asked.push_back({{"ask", question.at("ask")}, {"place", place}});
  }
  std::sort(walls.begin(), walls.end());
  const auto count = static_cast<double>(walls.size());
  return {{"questions", asked},
          {"answered_among_first_five", found},
          {"share", found / count},
          {"median_wall_seconds", walls[walls.size() / 2]},
          {"longest_wall_seconds", walls.back()},
          {"mean_cpu_seconds", cpu / count}};
}

std::string ctags_version() {
  const std::optional<std::string> ctags = code::find_ctags();
  if (!ctags) {
    return "none";
  }
  Command command;
  command.arguments = {*ctags, "--version"};
  const std::string text = must(run_command(command)).output;
  return text.substr(0, text.find('\n'));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    give_up("expected: code_search CHECKOUT [QUESTIONS]");
  }
  const fs::path questions =
      argc > 2 ? fs::path(argv[2])
               : fs::path(KERNELPRO_SOURCE_DIR) / "bench/code_search/questions.json";
  const json asked = json::parse(must(read_file(questions)));
  const ScratchDir scratch = must(ScratchDir::create("code_search"));
  const fs::path store = scratch.path() / ".kernelpro";
  const CodeIndexRequest request{
      .store = store, .folders = {argv[1]}, .winners = false, .forget = {}};
  CodeIndexed indexed;
  const Timed first = timed([&] { indexed = must(index_code(request, {}, {})); });
  const Timed again = timed([&] { must(index_code(request, {}, {})); });
  json result = {{"bench", "code_search"},
                 {"machine", to_json(must(must(WorkerClient::start()).describe()).machine)},
                 {"sqlite", sqlite3_libversion()},
                 {"ctags", ctags_version()},
                 {"files", indexed.folders.front().update.files},
                 {"symbols", indexed.folders.front().update.symbols},
                 {"index_bytes", fs::file_size(code::index_file(store))},
                 {"index", to_json(first)},
                 {"index_unchanged", to_json(again)}};
  result.update(ask_all(store, asked.at("questions")));
  fmt::print("{}\n", result.dump(2));
  return 0;
}
