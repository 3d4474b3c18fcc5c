#include "coordinator/app/client_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "coordinator/app/leases.hpp"
#include "coordinator/app/runs.hpp"

namespace kernelpro {

namespace {

// Who writes, for reports; the client's own name comes with each submission.
constexpr const char* client_spec = "client:mcp";

struct ProposalId {
  std::string run;
  NodeId node = root_node;
  std::string token;
};

Result<ProposalId> parse_proposal_id(const std::string& text) {
  const std::size_t second = text.rfind('/');
  const std::size_t first =
      second == std::string::npos || second == 0 ? std::string::npos : text.rfind('/', second - 1);
  ProposalId id;
  if (first != std::string::npos) {
    const char* const end = text.data() + second;
    const auto [rest, error] = std::from_chars(text.data() + first + 1, end, id.node);
    if (error == std::errc() && rest == end && id.node > root_node) {
      id.run = text.substr(0, first);
      id.token = text.substr(second + 1);
      return id;
    }
  }
  return make_error(ErrorKind::bad_input,
                    "expected the id that next_proposal gave, such as \"gemm-1/7/4f1c…\"",
                    "proposal " + text);
}

// The waiting calls of a run that nothing was submitted for, by node.
Result<std::vector<LlmCall>> open_calls(const Store& store, const std::string& run) {
  KP_LET(std::vector<LlmCall> calls, store.load_llm_calls(run));
  std::erase_if(calls, [](const LlmCall& call) { return !waits_for_client(call); });
  std::ranges::sort(calls, {}, &LlmCall::node);
  return calls;
}

bool asks_a_client(const RunSettings& settings) {
  return settings.llm && settings.llm->llm.starts_with(client_scheme);
}

Status refuse_other_run(const Run& run) {
  if (asks_a_client(run.settings)) {
    return {};
  }
  return make_error(ErrorKind::bad_input,
                    "its candidates are not written by a client: only start_run begins such a run",
                    "run " + run.id);
}

bool is_worked_on(const std::filesystem::path& store, const std::string& run) {
  const Result<std::vector<RunSummary>> runs = list_runs(store);
  return runs && std::ranges::any_of(
                     *runs, [&run](const RunSummary& one) { return one.id == run && one.locked; });
}

// Whoever works on the run is waited for: another submission to it.
template <typename Work>
auto when_free(const std::filesystem::path& store, const std::string& run,
               const std::stop_token& stop, const Work& work) -> decltype(work()) {
  constexpr auto step = std::chrono::milliseconds(100);
  for (;;) {
    auto done = work();
    if (done || stop.stop_requested() || !is_worked_on(store, run)) {
      return done;
    }
    std::this_thread::sleep_for(step);
  }
}

Result<RunOutcome> go_on(const std::filesystem::path& store, const std::string& run,
                         const Watcher& watcher, const std::stop_token& stop) {
  return when_free(store, run, stop,
                   [&] { return resume(ResumeRequest{store, run, {}}, watcher, stop); });
}

// The first open node that nobody has, or with `take_over` the first.
Result<ProposalOffer> lease_one(const ProposalRequest& request) {
  KP_LET(const Store store, Store::open(request.store, StoreMode::read));
  ProposalOffer offer;
  KP_LET(offer.report, load_report(store, request.run));
  KP_TRY(refuse_other_run(offer.report.run));
  KP_LET(const std::vector<LlmCall> calls, open_calls(store, request.run));
  for (const LlmCall& call : calls) {
    const Lease wanted{request.run, offer.report.run.created, call.node};
    KP_LET(const LeaseTaken taken, take_lease(request.store, wanted, request.take_over));
    if (!taken.token) {
      offer.why_none = fmt::format(
          "every open proposal was given out; the lease of node {} ends at {}. Submit it, or ask "
          "with take_over",
          call.node, taken.until);
      continue;
    }
    KP_LET(std::string brief, client_brief(call));
    const Node* const node = find_node(offer.report.nodes, call.node);
    offer.proposal =
        LeasedProposal{.id = fmt::format("{}/{}/{}", request.run, call.node, *taken.token),
                       .node = call.node,
                       .parent = node == nullptr ? root_node : node->parent,
                       .until = taken.until,
                       .repair = call.role == LlmRole::fixer,
                       .brief = std::move(brief)};
    return offer;
  }
  return offer;
}

// Keeps it with the calls of its node, unless that was done before.
Status keep_submission(const std::filesystem::path& directory, const ProposalId& id,
                       const Submission& submission) {
  KP_LET(Store store, Store::open(directory, StoreMode::write));
  KP_LET(const Run run, store.load_run(id.run));
  KP_TRY(refuse_other_run(run));
  KP_TRY(check_lease(directory, {id.run, run.created, id.node}, id.token));
  KP_LET(const RunLock lock, store.lock_run(id.run));
  KP_LET(const std::vector<LlmCall> calls, open_calls(store, id.run));
  const auto asked = std::ranges::find(calls, id.node, &LlmCall::node);
  if (asked == calls.end()) {
    return {};
  }
  std::vector<LlmCall> answered = answered_calls(*asked, submission);
  // What follows is kept first: nothing is taken up until the call that waits has its answer.
  std::ranges::reverse(answered);
  for (const LlmCall& call : answered) {
    KP_TRY(store.keep_llm_call(id.run, call));
  }
  return {};
}

}  // namespace

bool is_for_any_client(const RunSettings& settings) {
  return asks_a_client(settings) && settings.judging.sandbox &&
         settings.workers.scheme == WorkerScheme::live &&
         std::ranges::all_of(settings.workers.places,
                             [](const WorkerPlace& place) { return place.here(); });
}

Result<RunOutcome> begin_client_run(OptimizeRequest request, int parallel, const Watcher& watcher,
                                    std::stop_token stop) {
  request.settings.llm.emplace().llm = client_spec;
  request.settings.in_flight = parallel;
  request.settings.step = parallel > 1 ? 1 : 0;
  return optimize(request, watcher, std::move(stop));
}

Result<ProposalOffer> next_proposal(const ProposalRequest& request, const Watcher& watcher,
                                    std::stop_token stop) {
  KP_LET(ProposalOffer offer, lease_one(request));
  if (offer.proposal || !offer.why_none.empty()) {
    return offer;
  }
  if (offer.report.run.state != RunState::finished) {
    KP_TRY(go_on(request.store, request.run, watcher, stop));
    KP_LET(offer, lease_one(request));
  }
  if (!offer.proposal && offer.why_none.empty()) {
    const Run& run = offer.report.run;
    offer.why_none = run.ended_because.empty() ? "nothing is to be written now" : run.ended_because;
  }
  return offer;
}

Result<SubmittedNode> submit(const std::filesystem::path& store, const std::string& proposal,
                             const Submission& submission, const Watcher& watcher,
                             std::stop_token stop) {
  KP_LET(const ProposalId id, parse_proposal_id(proposal));
  KP_TRY(when_free(store, id.run, stop, [&] { return keep_submission(store, id, submission); }));
  KP_LET(RunOutcome outcome, go_on(store, id.run, watcher, stop));
  return SubmittedNode{std::move(outcome), id.node};
}

}  // namespace kernelpro
