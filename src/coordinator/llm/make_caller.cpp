#include "coordinator/llm/make_caller.hpp"

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "coordinator/llm/batch.hpp"
#include "coordinator/llm/batch_folder.hpp"
#include "coordinator/llm/client_chat.hpp"
#include "coordinator/llm/provider.hpp"
#include "coordinator/llm/replay_chat.hpp"
#include "coordinator/llm/role_llm.hpp"

namespace kernelpro {
namespace {

// A folder has one name here, however it is spelled.
std::string spec_of(const LlmSettings& settings, LlmRole role) {
  const std::string& spec = llm_of(settings, role);
  return spec.starts_with(batch_scheme) ? std::string(batch_scheme) + batch_directory(spec).string()
                                        : spec;
}

// The chats of a run: roles that name the same share it.
class Chats {
 public:
  Chats(const std::string& run, const LlmSettings& settings, CallJournal& journal)
      : run_(run), settings_(settings), journal_(journal) {}

  Result<RoleChat> of(LlmRole role) {
    const std::string spec = spec_of(settings_, role);
    auto& made = chats_[spec];
    if (!made) {
      KP_LET(made, make(spec));
    }
    return RoleChat{.chat = made, .model = model_of(spec, role, *made)};
  }

 private:
  Result<std::shared_ptr<Chat>> make(const std::string& spec) {
    if (spec.starts_with(batch_scheme)) {
      return make_batch(spec);
    }
    if (spec.starts_with(client_scheme)) {
      KP_LET(const std::vector<LlmCall> kept, journal_.all());
      return std::shared_ptr<Chat>(std::make_shared<ClientChat>(kept));
    }
    if (spec.starts_with(replay_scheme)) {
      Result<std::unique_ptr<ReplayChat>> chat =
          ReplayChat::open(spec.substr(replay_scheme.size()));
      return chat ? Result<std::shared_ptr<Chat>>(std::shared_ptr<Chat>(std::move(*chat)))
                  : chat.error();
    }
    Result<std::unique_ptr<Chat>> chat =
        make_http_chat(spec, settings_.base_url, settings_.key_file, settings_.timeout_seconds);
    return chat ? Result<std::shared_ptr<Chat>>(std::shared_ptr<Chat>(std::move(*chat)))
                : chat.error();
  }

  Result<std::shared_ptr<Chat>> make_batch(const std::string& spec) {
    if (spec == batch_scheme) {
      return make_error(ErrorKind::bad_input,
                        "no folder is named: expected batch:FOLDER, where requests are put");
    }
    KP_LET(const std::vector<LlmCall> kept, journal_.all());
    std::vector<LlmRole> roles;
    for (const LlmRole role : llm_roles()) {
      if (spec_of(settings_, role) == spec) {
        roles.push_back(role);
      }
    }
    return std::shared_ptr<Chat>(
        std::make_shared<BatchChat>(batch_directory(spec), run_, kept, roles));
  }

  [[nodiscard]] std::string model_of(const std::string& spec, LlmRole role,
                                     const Chat& chat) const {
    if (const auto* const replay = dynamic_cast<const ReplayChat*>(&chat)) {
      return replay->model(role);
    }
    if (spec.starts_with(batch_scheme)) {
      return settings_.model.empty() ? std::string(any_model) : settings_.model;
    }
    return spec.substr(spec.find(':') + 1);
  }

  const std::string& run_;
  const LlmSettings& settings_;
  CallJournal& journal_;
  std::map<std::string, std::shared_ptr<Chat>> chats_;  // by what names them
};

}  // namespace

Result<std::unique_ptr<BudgetedCaller>> make_caller(const std::string& run,
                                                    const LlmSettings& settings,
                                                    CallJournal& journal, CallerOptions options) {
  Chats chats(run, settings, journal);
  std::map<LlmRole, RoleChat> roles;
  std::set<const Provider*> over_http;
  for (const LlmRole role : llm_roles()) {
    if (role == LlmRole::reviewer && !settings.reviewer) {
      continue;
    }
    KP_LET(RoleChat chat, chats.of(role));
    const Provider* const provider = find_provider(chat.chat->provider());
    if (provider != nullptr && provider->dialect != nullptr) {
      over_http.insert(provider);
    }
    roles.emplace(role, std::move(chat));
  }
  if (over_http.size() > 1 && (!settings.key_file.empty() || !settings.base_url.empty())) {
    return make_error(ErrorKind::bad_input,
                      "--api-key-file and --base-url are of one provider, and the roles name two: "
                      "the key of one would be sent to the other. Leave both out, and give the "
                      "keys by " +
                          key_variables());
  }
  return BudgetedCaller::create(std::move(roles), journal, settings, std::move(options));
}

}  // namespace kernelpro
