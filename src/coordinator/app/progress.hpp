// What a use case tells while it works.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <variant>

#include "coordinator/app/machine_load.hpp"
#include "coordinator/loop/loop.hpp"

namespace kernelpro {

// What is going on now: "gemm 2/5 tiled: timing". The next one takes its place.
struct Activity {
  std::string text;
};

// Something that people should know, and that the result does not say.
struct Remark {
  enum class On {
    program,  // a store that was mended, a request that failed elsewhere
    results,  // what a bundle or a batch brought back
    models,   // what went wrong with a model: to be told in any case
  };
  On on = On::program;
  std::string text;
};

// A run has its name, and is worked on from here.
struct RunBegun {
  std::string run;
  std::string task;
  std::filesystem::path store;
};

// Of LoopProgress, what pointers point to lives as long as the call.
using Event = std::variant<Activity, Remark, MachineLoad, RunBegun, LoopProgress>;

// Called by the thread that called the use case; an empty one is not called.
using Watcher = std::function<void(const Event&)>;

inline void tell(const Watcher& watcher, const Event& event) {
  if (watcher) {
    watcher(event);
  }
}

}  // namespace kernelpro
