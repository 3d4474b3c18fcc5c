#include "coordinator/propose/agents/agents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "common/model/pasted_headers.hpp"
#include "common/model/tunables.hpp"
#include "coordinator/llm/token_count.hpp"
#include "coordinator/propose/agents/answers.hpp"
#include "coordinator/propose/agents/code_tools.hpp"
#include "coordinator/propose/agents/profile_tool.hpp"
#include "coordinator/propose/agents/prompt_file.hpp"
#include "coordinator/propose/agents/render.hpp"
#include "coordinator/propose/agents/talk.hpp"
#include "coordinator/propose/agents/text.hpp"

namespace kernelpro {

namespace agents {
namespace {

constexpr double least_gain = 0.1;
constexpr double most_gain = 100;

// Of a prompt, what a source may take that models write: the next prompt shows it, and that of the
// reviewer shows two.
constexpr std::int64_t source_share = 3;

// How many nodes in a row, up from the parent, have failed.
int failures_in_a_row(const AgentOrder& order) {
  int failures = has_failed(order.parent_tried.node) ? 1 : 0;
  for (auto one = order.branch.rbegin();
       failures > 0 && one != order.branch.rend() && has_failed(one->node); ++one) {
    ++failures;
  }
  return failures;
}

// Why nobody need be asked; empty: somebody is.
std::string obstacle(const AgentOrder& order, const LlmSettings& settings) {
  const Node& parent = order.parent_tried.node;
  if (has_failed(parent)) {
    const int failures = failures_in_a_row(order);
    return failures > settings.repairs
               ? fmt::format("{} failures in a row: {} may be repaired", failures, settings.repairs)
               : "";
  }
  const bool passed = parent.state == NodeState::judged && parent.outcome == Outcome::passed;
  return passed ? "" : fmt::format("node {} was not judged", parent.id);
}

// A parent that is longer than that share may grow by a quarter.
std::int64_t most_source_tokens(const AgentOrder& order, const LlmSettings& settings) {
  const std::int64_t parent = about_tokens(without_pasted(order.parent.source));
  return std::max(settings.prompt_tokens / source_share, parent + parent / 4);
}

// What a candidate is built with where its source does not say.
Candidate defaults_for(const AgentOrder& order) {
  Candidate out = order.parent;
  out.name = fmt::format("node {}", order.node);
  out.backend = order.run->settings.judging.backend;
  out.source.clear();
  out.libraries.clear();
  if (has_no_kernel(order)) {
    out.compiler = traits_of(out.backend).compiler;
    out.options.clear();
  }
  // A source that leaves out the options which were refused is rid of them.
  if (order.parent_tried.node.rule == "build_option") {
    out.options.clear();
  }
  return out;
}

bool has_place(const PromptFile& prompt, const char* section) {
  return std::any_of(prompt.user.begin(), prompt.user.end(), [section](const PromptPiece& piece) {
    return piece.section && piece.text == section;
  });
}

// The way from an order to a proposal.
class Pipeline {
 public:
  Pipeline(const LlmSettings& settings, const PromptSet& prompts, const CodeLibrary* code,
           const AgentOrder& order)
      : settings_(settings), prompts_(prompts), code_(code), order_(order) {}

  Result<Proposed> run(Caller& caller, std::stop_token stop) {
    caller_ = &caller;
    stop_ = std::move(stop);
    Result<Proposed> out = decide();
    if (out) {
      out->mishaps = std::move(mishaps_);
      out->learned = std::move(learned_);
    }
    return out;
  }

  [[nodiscard]] Result<ChatRequest> first_request(LlmRole role, const Plan* plan = nullptr,
                                                  const Candidate* candidate = nullptr) {
    const PromptFile& prompt = prompts_.of(role, has_no_kernel(order_));
    Scene scene{&order_, &prompts_, plan, candidate};
    if (code_ != nullptr && has_place(prompt, "code")) {
      look_into_code(scene);
    }
    KP_LET(Rendered text, render(prompt, scene, settings_.prompt_tokens));
    for (std::size_t at = 0; at < text.code; ++at) {
      learned_.push_back(place_of(scene.code[at]));
    }
    ChatRequest request;
    request.system = std::move(text.system);
    ChatMessage message;
    message.text = std::move(text.user);
    request.messages.push_back(std::move(message));
    request.max_output = settings_.max_output;
    const auto own = settings_.roles.find(role);
    if (own != settings_.roles.end()) {
      request.temperature = own->second.temperature;
    }
    if (has_place(prompt, "profile") && offers_profile_tool(order_)) {
      request.tools.push_back(profile_tool());
    }
    if (!scene.indexed.empty()) {
      std::ranges::move(code_tools(), std::back_inserter(request.tools));
    }
    return request;
  }

  // What a repair is looked up for, and held against when it is reviewed.
  [[nodiscard]] Plan repair_plan() const {
    const Node& parent = order_.parent_tried.node;
    Plan out;
    out.move = repair_move;
    out.plan = fmt::format("Repair node {}: {}", parent.id, one_line(parent.summary));
    out.why = parent.plan.empty() ? "" : fmt::format("its plan was: {}", one_line(parent.plan));
    return out;
  }

 private:
  // An index that cannot be read holds nobody up.
  void look_into_code(Scene& scene) {
    if (settings_.code == CodeUse::tools) {
      take_or_note(code_->contents(), scene.indexed);
    } else if (settings_.code == CodeUse::before && scene.plan != nullptr) {
      const Plan& plan = *scene.plan;
      take_or_note(code_->search(fmt::format("{} {} {}", plan.move, plan.plan, plan.why)),
                   scene.code);
    }
  }

  template <typename T>
  void take_or_note(Result<T> found, T& into) {
    if (found) {
      into = std::move(*found);
    } else {
      mishaps_.push_back("code: " + found.error().text());
    }
  }

  [[nodiscard]] Result<Proposed> decide() {
    if (std::string why = obstacle(order_, settings_); !why.empty()) {
      Proposed out;
      out.kind = Proposed::Kind::nothing;
      out.reason = std::move(why);
      return out;
    }
    if (has_failed(order_.parent_tried.node)) {
      return write(LlmRole::fixer, repair_plan());
    }
    KP_LET(auto planned, plan());
    if (Proposed* ended = std::get_if<Proposed>(&planned)) {
      return std::move(*ended);
    }
    return write(LlmRole::coder, std::get<Plan>(planned));
  }

  // What is asked first, or the end of the node where only what models wrote makes it too long:
  // another node may do better, and the settings are not to blame.
  [[nodiscard]] Step<ChatRequest> opening(LlmRole role, const Plan* plan = nullptr,
                                          const Candidate* candidate = nullptr) {
    using Opening = std::variant<ChatRequest, Proposed>;
    Result<ChatRequest> request = first_request(role, plan, candidate);
    if (request) {
      return Opening(std::move(*request));
    }
    if (!fits_without_models_texts(role, plan, candidate)) {
      return request.error();
    }
    mishaps_.push_back(fmt::format("{}: prompt too long", name_of(role)));
    Proposed out;
    out.kind = Proposed::Kind::nothing;
    out.reason = request.error().text();
    return Opening(std::move(out));
  }

  [[nodiscard]] bool fits_without_models_texts(LlmRole role, const Plan* plan,
                                               const Candidate* candidate) const {
    AgentOrder order = order_;
    if (order.parent_tried.node.id != root_node) {
      order.parent.source.clear();
    }
    const Plan no_plan;
    const Candidate no_candidate;
    const Scene scene{&order, &prompts_, plan == nullptr ? nullptr : &no_plan,
                      candidate == nullptr ? nullptr : &no_candidate};
    return render(prompts_.of(role, has_no_kernel(order_)), scene, settings_.prompt_tokens).ok();
  }

  [[nodiscard]] Setting setting() {
    return Setting{order_, *caller_, stop_, mishaps_, code_, learned_};
  }

  [[nodiscard]] Step<Plan> plan() {
    KP_LET(auto first, opening(LlmRole::planner));
    if (Proposed* ended = std::get_if<Proposed>(&first)) {
      return std::variant<Plan, Proposed>(std::move(*ended));
    }
    Talk talk(setting(), LlmRole::planner, std::get<ChatRequest>(std::move(first)));
    Step<Plan> out = talk.obtain<Plan>(read_plan);
    if (Plan* got = out ? std::get_if<Plan>(&*out) : nullptr) {
      got->predicted_gain = std::clamp(got->predicted_gain, least_gain, most_gain);
    }
    return out;
  }

  // By the coder or the fixer; the reviewer may send it back once.
  [[nodiscard]] Result<Proposed> write(LlmRole role, const Plan& plan) {
    KP_LET(auto first, opening(role, &plan));
    if (Proposed* ended = std::get_if<Proposed>(&first)) {
      return std::move(*ended);
    }
    Talk talk(setting(), role, std::get<ChatRequest>(std::move(first)));
    Step<Candidate> written = obtain_source(talk);
    if (written && settings_.reviewer && std::holds_alternative<Candidate>(*written)) {
      written = reviewed(plan, std::get<Candidate>(std::move(*written)), role, talk);
    }
    if (!written) {
      return written.error();
    }
    if (Proposed* ended = std::get_if<Proposed>(&*written)) {
      return std::move(*ended);
    }
    return propose(plan, std::get<Candidate>(std::move(*written)), role);
  }

  [[nodiscard]] Step<Candidate> obtain_source(Talk& talk) {
    const Candidate otherwise = defaults_for(order_);
    return talk.obtain<Candidate>([this, &otherwise](const ChatAnswer& answer) {
      return read_source(answer, order_.parent, otherwise, most_source_tokens(order_, settings_));
    });
  }

  // Where nothing comes of an objection, what was written first stands, and the judge decides.
  [[nodiscard]] Step<Candidate> reviewed(const Plan& plan, Candidate candidate, LlmRole role,
                                         Talk& talk) {
    using Written = std::variant<Candidate, Proposed>;
    KP_LET(auto told, review(plan, candidate));
    if (Proposed* ended = std::get_if<Proposed>(&told)) {
      return Written(std::move(*ended));
    }
    const std::string& objection = std::get<std::string>(told);
    if (objection.empty()) {
      return Written(std::move(candidate));
    }
    talk.say(objection);
    Step<Candidate> revised = obtain_source(talk);
    const Proposed* ended = revised ? std::get_if<Proposed>(&*revised) : nullptr;
    if (ended == nullptr || ended->kind == Proposed::Kind::not_yet) {
      return revised;
    }
    mishaps_.push_back(fmt::format("{}: not revised: {}", name_of(role), ended->reason));
    return Written(std::move(candidate));
  }

  // What the author is told; empty: nothing. A reviewer who cannot be asked holds nobody up.
  [[nodiscard]] Step<std::string> review(const Plan& plan, const Candidate& candidate) {
    using Told = std::variant<std::string, Proposed>;
    KP_LET(auto first, opening(LlmRole::reviewer, &plan, &candidate));
    if (std::holds_alternative<Proposed>(first)) {
      return Told(std::string());
    }
    Talk talk(setting(), LlmRole::reviewer, std::get<ChatRequest>(std::move(first)));
    KP_LET(auto got, talk.obtain<Review>(read_review));
    if (Proposed* ended = std::get_if<Proposed>(&got)) {
      if (ended->kind == Proposed::Kind::not_yet) {
        return Told(std::move(*ended));
      }
      if (ended->kind == Proposed::Kind::spent) {
        mishaps_.push_back("reviewer: not asked: " + ended->reason);
      }
      return Told(std::string());
    }
    return Told(objection_of(std::get<Review>(got)));
  }

  [[nodiscard]] std::string objection_of(const Review& review) {
    std::vector<std::string> objections = review.objections;
    if (!review.follows_plan) {
      objections.insert(objections.begin(), "the code does not do what the plan says");
    }
    if (!review.honest) {
      objections.insert(objections.begin(),
                        "the code is not honest: the judge would find that it cheats");
    }
    if (objections.empty()) {
      return "";
    }
    mishaps_.push_back(fmt::format("reviewer: objected: {}", fmt::join(objections, "; ")));
    return fmt::format(
        "A reviewer objects:\n\n- {}\n\nAnswer with the complete source again, mended where the "
        "objection is right and as it was where it is not.",
        fmt::join(objections, "\n- "));
  }

  [[nodiscard]] Proposed propose(const Plan& plan, Candidate candidate, LlmRole role) {
    if (const auto tunables = parse_tunables(candidate.source); !tunables) {
      mishaps_.push_back(
          fmt::format("{}: malformed tunable: {}", name_of(role), tunables.error().text()));
    }
    Proposed out;
    // The first kernel is one move, whatever its planner calls it; what sets it apart from others
    // stays before its plan.
    const bool first = has_no_kernel(order_);
    out.proposal.move = first ? first_kernel_move : plan.move;
    out.proposal.plan =
        first ? fmt::format("{}: {}", plan.move, one_line(plan.plan)) : one_line(plan.plan);
    out.proposal.predicted_gain = plan.predicted_gain;
    out.proposal.candidate = std::move(candidate);
    return out;
  }

  const LlmSettings& settings_;
  const PromptSet& prompts_;
  const CodeLibrary* code_;  // nullptr: none
  const AgentOrder& order_;
  Caller* caller_ = nullptr;
  std::stop_token stop_;
  std::vector<std::string> mishaps_;
  std::vector<std::string> learned_;
};

}  // namespace
}  // namespace agents

Result<Agents> Agents::load(const LlmSettings& settings, const std::filesystem::path& installed,
                            std::shared_ptr<const CodeLibrary> code) {
  KP_LET(agents::PromptSet prompts, agents::load_prompts(settings.prompts, installed));
  return Agents(settings, std::make_shared<const agents::PromptSet>(std::move(prompts)),
                std::move(code));
}

Result<Proposed> Agents::propose(const AgentOrder& order, Caller& caller,
                                 std::stop_token stop) const {
  return agents::Pipeline(settings_, *prompts_, code_.get(), order).run(caller, std::move(stop));
}

Result<PromptPreview> Agents::preview(const AgentOrder& order) const {
  if (const std::string why = agents::obstacle(order, settings_); !why.empty()) {
    return make_error(ErrorKind::bad_input, "nobody would be asked: " + why,
                      fmt::format("node {}", order.node));
  }
  PromptPreview out;
  out.role = has_failed(order.parent_tried.node) ? LlmRole::fixer : LlmRole::planner;
  agents::Pipeline pipeline(settings_, *prompts_, code_.get(), order);
  const agents::Plan repair = pipeline.repair_plan();
  KP_LET(out.request,
         pipeline.first_request(out.role, out.role == LlmRole::fixer ? &repair : nullptr));
  return out;
}

}  // namespace kernelpro
