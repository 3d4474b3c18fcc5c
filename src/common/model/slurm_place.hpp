// A worker in a job of a Slurm cluster: what the job asks for.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "common/base/result.hpp"

namespace kernelpro {

struct SlurmPlace {
  static constexpr std::int64_t default_wait = 600;
  static constexpr std::int64_t default_idle = 120;

  // Options of srun, by their long names and passed as they are: {"partition", "gpu"}.
  std::map<std::string, std::string> options;
  bool shared = false;  // other jobs may run on the node: what is timed there is suspect
  std::string worker;   // the program, as the node finds it; empty: where it lies here
  std::int64_t wait_seconds = default_wait;  // that the job may stand in the queue
  std::int64_t idle_seconds = default_idle;  // without work, after which its node is given back

  friend bool operator==(const SlurmPlace&, const SlurmPlace&) = default;
};

// Several that ask for the same.
struct SlurmPlaces {
  SlurmPlace place;
  int count = 1;
};

// "partition=gpu,time=30:00,count=3": names of srun's options and of ours, each once, with commas
// between. What follows a comma and has no "=" belongs to the value before: "nodelist=n1,n2".
[[nodiscard]] Result<SlurmPlaces> parse_slurm_places(std::string_view text);
[[nodiscard]] std::string text_of(const SlurmPlaces& places);

}  // namespace kernelpro
