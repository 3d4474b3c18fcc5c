#include <algorithm>
#include <set>

#include "coordinator/app/runs.hpp"
#include "coordinator/llm/batch_folder.hpp"

namespace kernelpro {

namespace {

// Nobody needs to answer what the run has asked. What cannot be done there is no error: the folder
// may be gone.
void withdraw_requests(const Run& run) {
  if (!run.settings.llm) {
    return;
  }
  for (const std::filesystem::path& folder : batch_directories(*run.settings.llm)) {
    const BatchFolder asked(folder);
    if (std::filesystem::exists(asked.requests_file())) {
      (void)asked.replace(run.id, {});
    }
  }
}

}  // namespace

Result<std::vector<RunSummary>> remove_runs(const std::filesystem::path& store,
                                            const std::vector<std::string>& runs, bool dry_run) {
  KP_TRY(Store::open(store, StoreMode::read));  // where there is none, none is made
  KP_LET(Store open, Store::open(store, StoreMode::write));
  const std::set<std::string> wanted(runs.begin(), runs.end());
  for (const std::string& run : wanted) {
    KP_TRY(open.lock_run(run));
  }
  KP_LET(std::vector<RunSummary> known, open.list_runs());
  std::erase_if(known, [&wanted](const RunSummary& run) { return !wanted.contains(run.id); });
  for (const RunSummary& run : known) {
    if (dry_run) {
      break;
    }
    KP_LET(const Run whole, open.load_run(run.id));
    KP_TRY(open.remove_run(run.id));
    withdraw_requests(whole);
  }
  return known;
}

}  // namespace kernelpro
