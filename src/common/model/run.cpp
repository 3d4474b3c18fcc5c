#include "common/model/run.hpp"

namespace kernelpro {

std::string_view name_of(RunState state) {
  switch (state) {
    case RunState::running:
      return "running";
    case RunState::interrupted:
      return "interrupted";
    case RunState::finished:
      return "finished";
  }
  return "running";
}

std::optional<RunState> parse_run_state(std::string_view name) {
  for (const RunState state : {RunState::running, RunState::interrupted, RunState::finished}) {
    if (name_of(state) == name) {
      return state;
    }
  }
  return std::nullopt;
}

}  // namespace kernelpro
