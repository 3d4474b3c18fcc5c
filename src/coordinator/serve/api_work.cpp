// Work that clients ask for, and what became of it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/base/clock.hpp"
#include "common/base/hash.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/schema_check.hpp"
#include "coordinator/serve/api.hpp"
#include "coordinator/serve/description.hpp"

namespace kernelpro::serve {

namespace {

using nlohmann::json;

constexpr std::int64_t ns_per_second = 1'000'000'000;
constexpr std::int64_t longest_wait_s = 60;
constexpr std::size_t longest_key = 200;

json standing_view(const Standing& standing) {
  json view = {{"id", standing.id},
               {"kind", standing.kind},
               {"state", name_of(standing.state)},
               {"attempts", standing.attempts},
               {"created", standing.created}};
  if (standing.state == WorkState::done) {
    view["ended"] = standing.ended;
    const Result<json> result = parse_json(standing.result);
    view["result"] = result ? *result : json::object();
  }
  return view;
}

// Seconds that the client is willing to wait: none where it does not say.
std::int64_t wait_of(const http::Request& request) {
  const auto found = request.query.find("wait");
  std::int64_t seconds = 0;
  if (found != request.query.end()) {
    const std::string& text = found->second;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
  }
  return std::clamp<std::int64_t>(seconds, 0, longest_wait_s);
}

// A body that asks for several things, of which only one would be done.
std::string ambiguity(const json& body) {
  if (body.contains("evaluations") && body.size() > 1) {
    return "evaluations stands alone: what is said of one belongs into its entry";
  }
  const int asked = (body.contains("task") ? 1 : 0) + (body.contains("run") ? 1 : 0) +
                    (body.contains("program") ? 1 : 0);
  return asked > 1 ? "give one of task, run and program" : "";
}

}  // namespace

Result<std::vector<NewWork>> Api::works_of(const json& body, const std::string& kind) {
  std::vector<NewWork> works;
  if (!body.contains("evaluations")) {
    KP_LET(NewWork one, new_work(kind, body, tasks_));
    works.push_back(std::move(one));
    return works;
  }
  for (std::size_t i = 0; i < body["evaluations"].size(); ++i) {
    Result<NewWork> one = new_work(kind, body["evaluations"][i], tasks_);
    if (!one) {
      return make_error(one.error().kind, one.error().text(), fmt::format("/evaluations/{}", i));
    }
    works.push_back(std::move(*one));
  }
  return works;
}

void Api::accept(const Exchange& exchange, const http::Caller& caller, const std::string& kind) {
  const std::string key = exchange->request().header("idempotency-key");
  const std::string text = exchange->take_body();
  const Result<json> body = parse_json(text);
  if (!body || key.size() > longest_key) {
    refuse(exchange, 400, body ? "the Idempotency-Key is too long" : body.error().text());
    return;
  }
  const json& schema = kind == "evaluate" ? description_->evaluate : description_->diagnose;
  if (const std::string wrong = schema_complaint(schema, *body, ""); !wrong.empty()) {
    refuse(exchange, 422, wrong);
    return;
  }
  if (const std::string wrong = ambiguity(*body); !wrong.empty()) {
    refuse(exchange, 422, wrong);
    return;
  }
  if (kind == "diagnose" && body->contains("run")) {
    diagnose_node(exchange, *body);
    return;
  }
  if (draining_) {
    refuse(exchange, 503, "the service takes no more work: it is being drained",
           {{"Retry-After", "60"}});
    return;
  }
  if (body->contains("program") && !caller.admin) {
    refuse(exchange, 403,
           "diagnosing a program runs it outside the sandbox: that needs the token "
           "of an admin");
    return;
  }
  const Result<std::vector<NewWork>> works =
      body->contains("program")
          ? std::vector<NewWork>{{"diagnose_program", text, "diagnose_program", ""}}
          : works_of(*body, kind);
  if (!works) {
    refuse(exchange, works.error());
    return;
  }
  const Result<Accepted> accepted =
      parts_.queue->accept(caller.name, *works, key, sha256(kind + "\n" + text));
  if (!accepted) {
    refuse(exchange, accepted.error());
    return;
  }
  if (accepted->ids.empty() || accepted->how == Accepted::How::other_body) {
    refuse_full(exchange, *accepted);
    return;
  }
  judges_->wake();
  answer_or_wait(
      {exchange, accepted->ids, now_ns() + wait_of(exchange->request()) * ns_per_second, false});
}

void Api::refuse_full(const Exchange& exchange, const Accepted& accepted) {
  const std::vector<http::Header> later = {{"Retry-After", std::to_string(seconds_until_room())}};
  if (accepted.how == Accepted::How::other_body) {
    refuse(exchange, 422, "this Idempotency-Key came with another body before");
  } else if (accepted.how == Accepted::How::client_full) {
    refuse(exchange, 429, "too much of your work is waiting", later);
  } else {
    refuse(exchange, 503, "too much work is waiting", later);
  }
}

// By how long judgments have taken here.
std::int64_t Api::seconds_until_room() const {
  constexpr double guess = 5;  // before anything was judged
  constexpr double longest = 300;
  const JudgeCounts counts = judges_->counts();
  const double each =
      counts.attempts > 0 ? counts.judging_seconds / static_cast<double>(counts.attempts) : guess;
  // Room for one is there soon, but not for all who come back at once.
  const double some = static_cast<double>(parts_.queue->open_count()) / 100;
  return static_cast<std::int64_t>(
      std::clamp(each * some / static_cast<double>(judges_->count()), 1.0, longest));
}

void Api::answer_or_wait(Waiter waiter) {
  if (!look_after(waiter, false)) {
    waiters_.push_back(std::move(waiter));
  }
}

// Whether it is answered now. Each piece of work is looked at once until it is done.
bool Api::look_after(Waiter& waiter, bool last) {
  for (; waiter.ended < waiter.ids.size(); ++waiter.ended) {
    const auto standing = parts_.queue->look(waiter.ids[waiter.ended]);
    const bool open = standing && *standing && (*standing)->state != WorkState::done;
    if (open && !last && now_ns() < waiter.until_ns) {
      return false;
    }
    if (open || !standing || !*standing) {
      break;
    }
  }
  answer_standings(waiter);
  return true;
}

void Api::answer_standings(const Waiter& waiter) {
  json list = json::array();
  bool all_done = true;
  for (const std::string& id : waiter.ids) {
    const auto standing = parts_.queue->look(id);
    if (!standing || !*standing) {
      refuse(waiter.exchange,
             standing ? make_error(ErrorKind::internal, "it is gone", id) : standing.error());
      return;
    }
    all_done = all_done && (*standing)->state == WorkState::done;
    list.push_back(standing_view(**standing));
  }
  const int status = all_done || waiter.one ? 200 : 202;
  answer(waiter.exchange, status, waiter.one ? list.front() : json{{"results", std::move(list)}});
}

void Api::show_result(const Exchange& exchange, const http::Caller& caller, std::string rest) {
  constexpr const char* certificate_end = "/certificate";
  const bool certificate = rest.ends_with(certificate_end);
  if (certificate) {
    rest.resize(rest.size() - std::string(certificate_end).size());
  }
  const auto standing = parts_.queue->look(rest);
  if (!standing) {
    refuse(exchange, standing.error());
  } else if (!*standing || (!caller.admin && (*standing)->client != caller.name)) {
    refuse(exchange, 404, "there is no such result");
  } else if (certificate) {
    const auto text = parts_.queue->certificate(rest);
    if (text && *text) {
      ++answers_[200];
      exchange->answer({200, "application/json", **text});
    } else {
      refuse(exchange, 404,
             "it has no certificate: it is not judged, or it is that of the result "
             "that stored_from names");
    }
  } else {
    answer_or_wait(
        {exchange, {rest}, now_ns() + wait_of(exchange->request()) * ns_per_second, true});
  }
}

void Api::tell_news(const WorkNews& news) {
  if (news.id.empty()) {
    unready_ = news.what == "unready" ? news.text : "";
    return;
  }
  if (news.what != "done" && events_.listeners() == 0) {
    return;
  }
  const auto standing = parts_.queue->look(news.id);
  if (!standing || !*standing) {
    return;
  }
  json data = {{"id", news.id}};
  if (news.what == "done") {
    data = standing_view(**standing);
  } else if (!news.text.empty()) {
    data["text"] = news.text;
  }
  events_.tell((*standing)->client, news.id, news.what, json_text(data));
}

}  // namespace kernelpro::serve
