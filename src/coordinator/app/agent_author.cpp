#include "coordinator/app/agent_author.hpp"

#include <utility>

#include "common/base/paths.hpp"
#include "coordinator/app/index_library.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/make_caller.hpp"

namespace kernelpro {

Result<Agents> load_agents(const LlmSettings& settings, std::shared_ptr<const CodeLibrary> code) {
  const Result<std::filesystem::path> share = share_directory();
  return share ? Agents::load(settings, *share / "knowledge" / "prompts", std::move(code))
               : Result<Agents>(share.error());
}

namespace {

// Of a run that has made no call yet.
class NoCalls : public CallJournal {
 public:
  [[nodiscard]] Result<std::vector<LlmCall>> all() override { return std::vector<LlmCall>(); }
  [[nodiscard]] Status keep(const LlmCall& /*call*/) override { return {}; }
};

}  // namespace

Status check_llm(const LlmSettings& settings) {
  if (const Result<Agents> agents = load_agents(settings); !agents) {
    return agents.error();
  }
  NoCalls journal;
  KP_TRY(make_caller("check", settings, journal));
  for (const std::filesystem::path& folder : batch_directories(settings)) {
    KP_TRY(BatchFolder(folder).check_usable());
  }
  return {};
}

Result<std::unique_ptr<AgentAuthor>> AgentAuthor::open(const Store& store, const Run& run) {
  KP_LET(Agents agents,
         load_agents(*run.settings.llm, find_code_library(store.directory(), *run.settings.llm)));
  KP_LET(Store own, Store::open(store.directory(), StoreMode::write));
  auto journal = std::make_unique<StoreCallJournal>(std::move(own), run.id);
  KP_LET(std::unique_ptr<BudgetedCaller> caller, make_caller(run.id, *run.settings.llm, *journal));
  return std::unique_ptr<AgentAuthor>(
      new AgentAuthor(std::move(agents), std::move(journal), std::move(caller)));
}

}  // namespace kernelpro
