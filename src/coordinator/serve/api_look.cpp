// Health, figures, runs and the end.
#include <fmt/format.h>

#include <charconv>

#include "coordinator/app/runs.hpp"
#include "coordinator/app/views.hpp"
#include "coordinator/serve/api.hpp"
#include "coordinator/serve/description.hpp"

namespace kernelpro::serve {

namespace {

using nlohmann::json;

// One figure in the text form of Prometheus.
std::string figure(const char* name, const char* type, const char* help, double value) {
  return fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{0} {3}\n", name, help, type, value);
}

template <typename Key>
std::string figures(const char* name, const char* help, const char* label,
                    const std::map<Key, std::int64_t>& values) {
  std::string text = fmt::format("# HELP {0} {1}\n# TYPE {0} counter\n", name, help);
  for (const auto& [key, value] : values) {
    text += fmt::format("{}{{{}=\"{}\"}} {}\n", name, label, key, value);
  }
  return text;
}

std::optional<NodeId> node_named(const std::string& text) {
  NodeId node = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
  const bool whole = error == std::errc() && end == text.data() + text.size() && !text.empty();
  return whole ? std::optional(node) : std::nullopt;
}

}  // namespace

void Api::show_health(const Exchange& exchange) {
  const bool well = unready_.empty();
  const char* const ready = well ? "ok" : "unready";
  json body = {{"status", draining_ ? "draining" : ready}, {"version", KERNELPRO_VERSION}};
  if (!well) {
    body["why"] = unready_;
  }
  answer(exchange, draining_ || !well ? 503 : 200, body);
}

void Api::show_metrics(const Exchange& exchange) {
  const JudgeCounts counts = judges_->counts();
  std::string text =
      figure("kernelpro_work_open", "gauge", "Accepted and without a result yet.",
             static_cast<double>(parts_.queue->open_count())) +
      figures("kernelpro_results_total", "Judged since the start, by outcome.", "outcome",
              counts.outcomes) +
      figure("kernelpro_stored_total", "counter", "Answered by an equal one's result.",
             static_cast<double>(counts.stored)) +
      figure("kernelpro_attempts_total", "counter", "Judgments begun.",
             static_cast<double>(counts.attempts)) +
      figure("kernelpro_failed_attempts_total", "counter", "Judgments that came to nothing.",
             static_cast<double>(counts.failed_attempts)) +
      figure("kernelpro_judging_seconds_total", "counter", "Time that judgments took.",
             counts.judging_seconds) +
      figure("kernelpro_judges", "gauge", "Workers.", static_cast<double>(judges_->count())) +
      figure("kernelpro_judges_busy", "gauge", "Workers that judge now.", counts.busy) +
      figure("kernelpro_event_listeners", "gauge", "Open streams of events.",
             static_cast<double>(events_.listeners())) +
      figure("kernelpro_draining", "gauge", "1: no more work is taken.", draining_ ? 1 : 0) +
      figures("kernelpro_http_answers_total", "Answers, by status.", "status", answers_);
  ++answers_[200];
  exchange->answer({200, "text/plain; version=0.0.4; charset=utf-8", std::move(text)});
}

void Api::show_runs(const Exchange& exchange, const std::string& rest) {
  if (rest.empty()) {
    const auto runs = list_runs(parts_.store);
    answer(exchange, 200, {{"runs", runs ? to_json(*runs) : json::array()}});
    return;
  }
  const std::size_t slash = rest.find('/');
  const std::string run = rest.substr(0, slash);
  if (!is_name(run)) {
    refuse(exchange, 404, "there is no such run");
    return;
  }
  if (slash == std::string::npos) {
    const Result<RunReport> report = report_run(parts_.store, run);
    report ? answer(exchange, 200, run_view(*report))
           : refuse(exchange, 404, report.error().text());
    return;
  }
  constexpr std::string_view nodes = "nodes/";
  const std::string place = rest.substr(slash + 1);
  const auto node =
      place.starts_with(nodes) ? node_named(place.substr(nodes.size())) : std::optional<NodeId>();
  if (!node) {
    refuse(exchange, 404, "expected /v1/runs/RUN/nodes/NUMBER");
    return;
  }
  const Result<ShownNode> shown = show_node({parts_.store, run, node});
  shown ? answer(exchange, 200, to_json(*shown)) : refuse(exchange, 404, shown.error().text());
}

void Api::diagnose_node(const Exchange& exchange, const json& body) {
  NodeRequest request{parts_.store, body.value("run", ""), std::nullopt};
  if (body.contains("node")) {
    request.node = body["node"].get<NodeId>();
  }
  const Result<ShownNode> shown = is_name(request.run)
                                      ? show_node(request)
                                      : make_error(ErrorKind::bad_input, "there is no such run");
  if (!shown) {
    refuse(exchange, shown.error());
    return;
  }
  const Backend backend = shown->chosen.report.run.settings.judging.backend;
  json result = {{"diagnosis", diagnosis_view(shown->chosen.node.diagnosis, backend)}};
  if (shown->certificate) {
    result["verdict"] = verdict_view(*shown->certificate);
  }
  answer(exchange, 200,
         {{"results", {{{"kind", "diagnose"}, {"state", "done"}, {"result", result}}}}});
}

void Api::drain(const Exchange& exchange, const http::Caller& caller) {
  if (!caller.admin) {
    refuse(exchange, 403, "ending the service needs the token of an admin");
    return;
  }
  draining_ = true;
  judges_->drain();
  answer(exchange, 202, {{"status", "draining"}, {"open", parts_.queue->open_count()}});
}

}  // namespace kernelpro::serve
