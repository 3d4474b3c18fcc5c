// A store in a folder of its own, runs and nodes to put into it, and other processes.
#pragma once

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

#include "common/base/file.hpp"
#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "common/wire/samples.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro::testing {

inline std::string source_of(NodeId id) {
  return "// candidate " + std::to_string(id) + "\nint kp_launch() { return 0; }\n";
}

// As a proposal is begun.
inline Node begun_node(NodeId id) {
  Node node;
  node.id = id;
  node.parent = id == root_node ? no_node : root_node;
  node.move = id == root_node ? "" : "tile";
  node.site = "loops i, j";
  node.plan = "Tile the loops i and j by 64 — ünïcode";
  node.predicted_gain = 1.5;
  node.reasons = {"root: 3 visits", "widened: \"quotes\"\nand lines"};
  node.source_hash = sha256(source_of(id));
  node.compiler = "clang++-19";
  node.options = {"-O3", "target"};
  node.born = 2 * id + 1;
  node.candidate_key = sha256("key " + std::to_string(id));
  return node;
}

// As it has been judged, with no field at its default.
inline Node judged_node(NodeId id, double speedup = 1.25) {
  Node node = begun_node(id);
  node.state = NodeState::judged;
  node.ended = 2 * id + 2;
  node.same_as = 7;
  node.binary_hash = sha256("binary " + std::to_string(id));
  node.outcome = Outcome::passed;
  node.rule = "rule";
  node.summary = std::string("faster\0by much", 14);
  node.screened = true;
  node.speedup = speedup;
  node.speedup_interval = {speedup - 0.1, speedup + 0.1};
  node.at_least = true;
  node.likely = 1.5 * speedup;
  node.final_phase = 2;
  node.confirmed = true;
  node.diagnosis = {Bottleneck::memory,   0.625, "near the measured bandwidth",
                    KernelClass::unknown, {},    {}};
  node.build_ns = 123;
  node.judge_ns = std::numeric_limits<std::int64_t>::max();
  return node;
}

inline Certificate certificate_of(NodeId id) {
  Certificate certificate = sample_certificate();
  certificate.candidate.source = source_of(id);
  certificate.build.source_hash = sha256(source_of(id));
  certificate.master = numbered_key(static_cast<std::uint64_t>(id));
  certificate.verdict.outcome = Outcome::passed;
  certificate.verdict.checks.push_back(
      {Stage::smoke, {{"m", id}}, "normal", numbered_key(5), 1e-9, 0, 1, 0});
  certificate.verdict.timing.shapes.push_back(sample_shape_timing());
  certificate.verdict.timing.shapes.back().candidate_rounds = {0.1 * static_cast<double>(id)};
  return certificate;
}

inline Run new_run(const std::string& task = "nearest") {
  Run run;
  run.created = "2024-02-29T12:00:00Z";
  run.program_version = "0.1.0";
  run.task = sample_task();
  run.task.name = task;
  run.task_hash = task_hash(run.task);
  run.task_path = "/somewhere/task.toml";
  run.settings.search = "greedy";
  run.settings.evaluations = 50;
  run.machine = "Some CPU";
  return run;
}

inline void expect_same(const Node& read, const Node& written) {
  EXPECT_EQ(read.id, written.id);
  EXPECT_EQ(read.parent, written.parent);
  EXPECT_EQ(read.move, written.move);
  EXPECT_EQ(read.site, written.site);
  EXPECT_EQ(read.plan, written.plan);
  EXPECT_EQ(read.predicted_gain, written.predicted_gain);
  EXPECT_EQ(read.reasons, written.reasons);
  EXPECT_EQ(read.source_hash, written.source_hash);
  EXPECT_EQ(read.compiler, written.compiler);
  EXPECT_EQ(read.options, written.options);
  EXPECT_EQ(read.state, written.state);
  EXPECT_EQ(read.born, written.born);
  EXPECT_EQ(read.ended, written.ended);
  EXPECT_EQ(read.same_as, written.same_as);
  EXPECT_EQ(read.candidate_key, written.candidate_key);
  EXPECT_EQ(read.binary_hash, written.binary_hash);
  EXPECT_EQ(read.outcome, written.outcome);
  EXPECT_EQ(read.rule, written.rule);
  EXPECT_EQ(read.summary, written.summary);
  EXPECT_EQ(read.precision, written.precision);
  EXPECT_EQ(read.suspect, written.suspect);
  EXPECT_EQ(read.verified, written.verified);
  EXPECT_EQ(read.screened, written.screened);
  EXPECT_EQ(read.speedup, written.speedup);
  EXPECT_EQ(read.speedup_interval.low, written.speedup_interval.low);
  EXPECT_EQ(read.speedup_interval.high, written.speedup_interval.high);
  EXPECT_EQ(read.at_least, written.at_least);
  EXPECT_EQ(read.likely, written.likely);
  EXPECT_EQ(read.final_phase, written.final_phase);
  EXPECT_EQ(read.confirmed, written.confirmed);
  EXPECT_EQ(read.diagnosis.bottleneck, written.diagnosis.bottleneck);
  EXPECT_EQ(read.diagnosis.share_of_bound, written.diagnosis.share_of_bound);
  EXPECT_EQ(read.diagnosis.text, written.diagnosis.text);
  EXPECT_EQ(read.build_ns, written.build_ns);
  EXPECT_EQ(read.judge_ns, written.judge_ns);
}

// Runs `body` in a process of its own; its exit code is 0 when the body returned true.
inline pid_t in_process(const std::function<bool()>& body) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    // An exception must not lead back into the tests, which would go on twice.
    try {
      ::_exit(body() ? 0 : 1);
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "%s\n", failure.what());
      ::_exit(1);
    }
  }
  return pid;
}

inline int exit_code_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class StoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ScratchDir> made = ScratchDir::create("store-test");
    ASSERT_TRUE(made.ok()) << made.error().text();
    scratch_.emplace(std::move(*made));
  }

  [[nodiscard]] std::filesystem::path folder() const { return scratch_->path() / "store"; }
  [[nodiscard]] std::filesystem::path file() const { return folder() / "store.sqlite"; }

  // Ends the test when the store cannot be opened.
  [[nodiscard]] Store open(StoreMode mode = StoreMode::write) const {
    Result<Store> store = Store::open(folder(), mode);
    if (!store) {
      throw std::runtime_error(store.error().text());
    }
    return std::move(*store);
  }

  [[nodiscard]] Error error_of_open(StoreMode mode = StoreMode::write) const {
    const Result<Store> store = Store::open(folder(), mode);
    return store ? make_error(ErrorKind::internal, "it opened") : store.error();
  }

  std::optional<ScratchDir> scratch_;
};

template <typename T>
std::string error_text(const Result<T>& result) {
  return result.ok() ? "no error" : result.error().text();
}

}  // namespace kernelpro::testing
