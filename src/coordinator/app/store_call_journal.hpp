// The calls of models of one run of a store.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "coordinator/llm/caller.hpp"
#include "coordinator/store/store.hpp"

namespace kernelpro {

// Models are asked by many threads while the loop goes on: the journal has a connection of its own,
// used by one thread at a time.
class StoreCallJournal : public CallJournal {
 public:
  StoreCallJournal(Store store, std::string run) : store_(std::move(store)), run_(std::move(run)) {}

  [[nodiscard]] Result<std::vector<LlmCall>> all() override {
    const std::lock_guard lock(mutex_);
    return store_.load_llm_calls(run_);
  }
  [[nodiscard]] Status keep(const LlmCall& call) override {
    const std::lock_guard lock(mutex_);
    return store_.keep_llm_call(run_, call);
  }

 private:
  Store store_;
  std::string run_;
  std::mutex mutex_;
};

}  // namespace kernelpro
