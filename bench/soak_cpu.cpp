// Hostile candidates in a row on one worker: what hangs, and what is left of them afterwards. Or
// honest ones: which of them is accused of what it did not do. One JSON value; the exit code is 0
// when nothing was left, everything had its verdict and no honest candidate was accused.
//
//   cmake --build --preset release && build/release/bin/soak_cpu 1000 >
//   bench/results/soak_cpu-NAME.json
//   build/release/bin/soak_cpu 1000 --honest > bench/results/soak_cpu_honest-NAME.json
//
// The candidates are those of tests/hacks, over and over; after each round of them a baseline is
// judged. Needs a quiet machine; about half an hour for a thousand.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/deadline.hpp"
#include "common/base/file.hpp"
#include "common/base/machine_lock.hpp"
#include "common/base/paths.hpp"
#include "common/wire/json.hpp"
#include "coordinator/dispatch/worker_client.hpp"
#include "coordinator/task/load.hpp"
#include "hacks/hack_candidate.hpp"
#include "must.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

// Far beyond what any verdict takes: ten calls that time out, and a build that does.
constexpr std::int64_t hang_ms = 180'000;
// What a worker may grow by between the end of the first round and that of the last.
constexpr std::int64_t growth_limit_kib = 64 * 1024;

// The folders of one soak, so that what is left in them is its own.
class Places {
 public:
  Places() {
    std::string pattern = (fs::temp_directory_path() / "kp-soak-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr || chmod(pattern.c_str(), 0711) != 0) {
      give_up("cannot make a folder like " + pattern);
    }
    root_ = pattern;
    for (const fs::path& folder : {scratch(), cache()}) {
      fs::create_directories(folder);
    }
    chmod(scratch().c_str(), 0711);
    setenv("TMPDIR", scratch().c_str(), 1);
    setenv("KERNELPRO_CACHE", cache().c_str(), 1);
    setenv("KERNELPRO_BUILD_TIMEOUT_MS", "15000", 0);
  }
  ~Places() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  [[nodiscard]] fs::path scratch() const { return root_ / "tmp"; }
  [[nodiscard]] fs::path cache() const { return root_ / "cache"; }

 private:
  fs::path root_;
};

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

// Processes out of our own folder, and compilers at work in a folder of the soak.
std::vector<std::string> processes_left(const Places& places) {
  const std::string programs = (program_directory() / "kernelpro-").string();
  std::vector<std::string> left;
  for (const std::string& name : names_in("/proc")) {
    const fs::path process = fs::path("/proc") / name;
    std::ifstream file(process / "cmdline", std::ios::binary);
    std::string program;
    std::getline(file, program, '\0');
    std::error_code none;
    const std::string folder = fs::read_symlink(process / "cwd", none).string();
    if (program.starts_with(programs) || (!none && folder.starts_with(places.scratch().string()))) {
      left.push_back(name + " " + program);
    }
  }
  return left;
}

struct WorkerSize {
  std::int64_t descriptors = 0;
  std::int64_t threads = 0;
  std::int64_t memory_kib = 0;
  std::int64_t children = 0;
  std::int64_t scratch_folders = 0;
};

WorkerSize size_of_worker(pid_t pid, const Places& places) {
  const fs::path process = "/proc/" + std::to_string(pid);
  WorkerSize size;
  size.descriptors = static_cast<std::int64_t>(names_in(process / "fd").size());
  size.scratch_folders = static_cast<std::int64_t>(names_in(places.scratch()).size());
  for (const std::string& task : names_in(process / "task")) {
    ++size.threads;
    std::ifstream children(process / "task" / task / "children");
    for (pid_t child = 0; children >> child;) {
      ++size.children;
    }
  }
  std::ifstream status(process / "status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") {
      status >> size.memory_kib;
    }
  }
  return size;
}

json to_json(const WorkerSize& size) {
  return {{"descriptors", size.descriptors},
          {"threads", size.threads},
          {"memory_mib", static_cast<double>(size.memory_kib) / 1024},
          {"children", size.children},
          {"scratch_folders", size.scratch_folders}};
}

struct Options {
  std::size_t count = 1000;
  bool honest = false;
  bool timed = true;
};

// The candidates of a round, by task; fewer than there are: spread over all.
std::vector<HackCandidate> choose(const Options& options, bool with_clang) {
  std::vector<HackCandidate> all = read_hacks();
  std::erase_if(all, [&](const HackCandidate& hack) {
    return hack.honest() != options.honest ||
           (hack.candidate.compiler == "clang++-19" && !with_clang);
  });
  std::vector<HackCandidate> chosen;
  const std::size_t round = std::min(options.count, all.size());
  for (std::size_t i = 0; i < round; ++i) {
    chosen.push_back(all[i * all.size() / round]);
  }
  std::ranges::stable_sort(chosen, {}, &HackCandidate::task);
  return chosen;
}

class Soak {
 public:
  Soak(const Places& places, const Options& options)
      : places_(places), options_(options), worker_(must(WorkerClient::start())) {}

  json run() {
    const WorkerDescription description = must(worker_->describe());
    bool with_clang = false;
    for (const CompilerDescription& compiler : description.compilers) {
      with_clang = with_clang || compiler.name == "clang++-19";
    }
    const std::vector<HackCandidate> candidates = choose(options_, with_clang);
    const std::int64_t start = now_ns();
    while (judged_ < options_.count && !hung_) {
      judge_round(candidates);
      sizes_.push_back(size_of_worker(worker_->pid(), places_));
    }
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    worker_.reset();
    json out = {{"bench", "soak_cpu"},
                {"version", KERNELPRO_VERSION},
                {"machine", kernelpro::to_json(description.machine)},
                {"timed", options_.timed},
                {"candidates", options_.honest ? "honest" : "hostile"},
                {"judged", judged_},
                {"different", candidates.size()},
                {"seconds", seconds},
                {"slowest_seconds", slowest_seconds_},
                {"slowest", slowest_},
                {"hung", hung_ ? json(last_) : json(nullptr)},
                {"outcomes", outcomes_},
                {"not_judged", not_judged_},
                {"other_than_expected", surprises_},
                {"baselines_passed", baselines_passed_},
                {"baselines_failed", baselines_failed_}};
    for (const WorkerSize& size : sizes_) {
      out["worker_after_each_round"].push_back(to_json(size));
    }
    out["left"] = left_over();
    out["clean"] = is_clean(out["left"]);
    return out;
  }

 private:
  void judge_round(const std::vector<HackCandidate>& candidates) {
    std::string open_task;
    for (const HackCandidate& hack : candidates) {
      if (judged_ >= options_.count || hung_) {
        break;
      }
      if (hack.task != open_task) {
        end_task(open_task);
        open_task = hack.task;
        open(open_task);
      }
      judge(hack);
    }
    end_task(open_task);
  }

  void open(const std::string& task) {
    OpenOrder order;
    order.task = must(load_task(fs::path(KERNELPRO_SOURCE_DIR) / "tasks" / task));
    order.judging.call_timeout_seconds = 2;
    order.judging.timing_seconds = 0.3;
    order.timed = options_.timed;
    must(worker_->open(order));
  }

  // As if nothing had happened: the task's own baseline passes.
  void end_task(const std::string& task) {
    if (task.empty() || hung_) {
      return;
    }
    EvaluateOrder order;
    order.implementation =
        must(load_task(fs::path(KERNELPRO_SOURCE_DIR) / "tasks" / task)).baselines.front().name;
    order.timed = options_.timed;
    const Evaluated evaluated = must(worker_->evaluate(order));
    const bool passed = evaluated.certificate.verdict.outcome == Outcome::passed;
    ++(passed ? baselines_passed_ : baselines_failed_);
  }

  void judge(const HackCandidate& hack) {
    EvaluateOrder order;
    order.candidate = hack.candidate;
    order.allow_precision = hack.allow_precision;
    order.timed = options_.timed;
    std::stop_source stop;
    const std::jthread alarm([&stop](const std::stop_token& judged) {
      const Deadline deadline(hang_ms);
      while (!judged.stop_requested() && !deadline.passed()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      if (!judged.stop_requested()) {
        stop.request_stop();
      }
    });
    last_ = hack.file;
    const std::int64_t start = now_ns();
    const Result<Evaluated> evaluated = worker_->evaluate(order, stop.get_token());
    const double seconds = static_cast<double>(now_ns() - start) / 1e9;
    if (seconds > slowest_seconds_) {
      slowest_seconds_ = seconds;
      slowest_ = hack.file;
    }
    if (!evaluated) {
      hung_ = true;
      std::fprintf(stderr, "%s: %s\n", hack.file.c_str(), evaluated.error().text().c_str());
      return;
    }
    note(hack, evaluated->certificate.verdict);
  }

  // Many hostile ones are caught by timing only, and without it an honest one can but pass.
  [[nodiscard]] bool as_expected(const HackCandidate& hack, const Verdict& verdict) const {
    if (options_.timed) {
      return meets_expectation(hack, verdict);
    }
    return !hack.honest() || verdict.outcome == Outcome::passed;
  }

  void note(const HackCandidate& hack, const Verdict& verdict) {
    ++judged_;
    const std::string outcome(name_of(verdict.outcome));
    ++outcomes_[outcome];
    if (verdict.outcome == Outcome::not_judged) {
      not_judged_.push_back(hack.file + ": " + verdict.summary);
    } else if (!as_expected(hack, verdict)) {
      surprises_.push_back(hack.file + ": " + outcome + " " + verdict.rule + ": " +
                           fmt::format("{}", fmt::join(verdict.evidence, "; ")));
    }
    if (judged_ % 100 == 0) {
      std::fprintf(stderr, "%zu judged\n", judged_);
    }
  }

  [[nodiscard]] json left_over() const {
    std::vector<std::string> unfinished;
    std::int64_t cache_bytes = 0;
    for (const auto& entry : fs::recursive_directory_iterator(places_.cache())) {
      cache_bytes += entry.is_regular_file() ? static_cast<std::int64_t>(entry.file_size()) : 0;
      if (entry.path().extension() == ".tmp") {
        unfinished.push_back(entry.path().filename().string());
      }
    }
    const bool lock_is_free = MachineLock::acquire("cpu", LockMode::timing, 120'000).ok();
    return {{"processes", processes_left(places_)},
            {"scratch_folders", names_in(places_.scratch())},
            {"unfinished_cache_files", unfinished},
            {"cache_mib", static_cast<double>(cache_bytes) / (1 << 20)},
            {"lock_is_free", lock_is_free}};
  }

  [[nodiscard]] bool is_clean(const json& left) const {
    const bool grown = !sizes_.empty() &&
                       (sizes_.back().memory_kib > sizes_.front().memory_kib + growth_limit_kib ||
                        sizes_.back().descriptors > sizes_.front().descriptors + 4);
    return !hung_ && !grown && not_judged_.empty() && baselines_failed_ == 0 &&
           (!options_.honest || surprises_.empty()) && left["processes"].empty() &&
           left["scratch_folders"].empty() && left["unfinished_cache_files"].empty() &&
           left["lock_is_free"] == true;
  }

  const Places& places_;
  Options options_;
  std::optional<WorkerClient> worker_;
  std::size_t judged_ = 0;
  bool hung_ = false;
  std::string last_;
  double slowest_seconds_ = 0;
  std::string slowest_;
  std::map<std::string, int> outcomes_;
  std::vector<std::string> not_judged_;
  std::vector<std::string> surprises_;
  int baselines_passed_ = 0;
  int baselines_failed_ = 0;
  std::vector<WorkerSize> sizes_;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool understood = true;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const long count = std::atol(argv[i]);
    if (word == "--honest") {
      options.honest = true;
    } else if (word == "--no-timing") {
      options.timed = false;
    } else if (count > 0) {
      options.count = static_cast<std::size_t>(count);
    } else {
      understood = false;
    }
  }
  if (!understood) {
    std::fprintf(stderr, "soak_cpu [COUNT] [--honest] [--no-timing]\n");
    return 1;
  }
  const Places places;
  const json out = Soak(places, options).run();
  std::printf("%s\n", out.dump(2).c_str());
  return out["clean"] == true ? 0 : 1;
}
