// Lessons to work with.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "common/base/file.hpp"
#include "coordinator/memory/memory.hpp"

namespace kernelpro::memory {

inline Circumstances product_here() {
  return {Backend::cpu,
          "aarch64",
          {{"intensity", 6}, {"reduction", 9}, {"input_rank", 2}, {"indirect", 0}},
          {{"arm", 1}, {"cores", 1}, {"cache", 25}}};
}

// A task that has little in common with it.
inline Circumstances lookup_here() {
  Circumstances out = product_here();
  out.task = {{"intensity", -3}, {"reduction", 0}, {"input_rank", 1}, {"indirect", 1}};
  return out;
}

inline Situation plain_code() {
  return {{{"depth", 3}, {"parallel", 0}, {"target", 1}}, "latency", {}};
}

// What a try of the move came to; no gain: it failed.
inline Observation saw(const std::string& move, std::optional<double> log_gain,
                       const std::string& site = "") {
  Observation out;
  out.situation = plain_code();
  out.move = move;
  out.site = site;
  out.log_gain = log_gain;
  out.outcome = log_gain ? Outcome::passed : Outcome::incorrect;
  return out;
}

inline RunLessons run_of(const std::string& key, std::vector<Observation> observations,
                         const Circumstances& where = product_here()) {
  RunLessons out;
  out.key = key;
  out.learned = 10;
  out.circumstances = where;
  out.observations = std::move(observations);
  return out;
}

class MemoryTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path file() const { return folder_->path() / "memory.sqlite"; }
  [[nodiscard]] Memory open(StoreMode mode = StoreMode::write) const {
    Result<Memory> memory = Memory::open(file(), mode);
    EXPECT_TRUE(memory.ok()) << memory.error().text();
    return std::move(*memory);
  }
  void learn(const RunLessons& run) const {
    const Status learned = open().learn(run);
    EXPECT_TRUE(learned.ok()) << learned.error().text();
  }
  [[nodiscard]] Recollection recall(const Circumstances& where = product_here()) const {
    Result<Recollection> told = open(StoreMode::read).recall(where);
    EXPECT_TRUE(told.ok()) << told.error().text();
    return std::move(*told);
  }
  [[nodiscard]] MovePrior prior(const std::string& move,
                                const Circumstances& where = product_here()) const {
    return find_prior(priors_for(recall(where), plain_code()), move, "");
  }

  Result<ScratchDir> folder_ = ScratchDir::create("memory-test");
};

}  // namespace kernelpro::memory
