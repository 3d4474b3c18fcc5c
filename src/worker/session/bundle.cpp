#include "worker/session/bundle.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/wire/orders_json.hpp"
#include "common/wire/sealed_line.hpp"
#include "worker/session/build_ahead.hpp"
#include "worker/session/results_file.hpp"

namespace kernelpro {

namespace {

// One core for the thread that judges and one for the runner it drives.
constexpr int cores_of_a_gpu_timing = 2;

struct Bundle {
  BundleHeader header;
  std::vector<std::string> lines;  // of the requests
};

Result<Bundle> read_bundle(const std::filesystem::path& path) {
  const Result<std::string> text = read_file(path);
  if (!text) {
    return make_error(ErrorKind::bad_input, "the bundle cannot be read: " + text.error().message,
                      path.string());
  }
  Bundle bundle;
  bundle.lines = whole_lines(*text);
  if (bundle.lines.empty()) {
    return make_error(ErrorKind::bad_input, "it is no bundle: it has no whole line", path.string());
  }
  const Result<BundleHeader> header = parse_bundle_header(bundle.lines.front());
  if (!header) {
    return make_error(ErrorKind::bad_input,
                      "it is no bundle of this worker: " + header.error().text(), path.string());
  }
  bundle.header = *header;
  bundle.lines.erase(bundle.lines.begin());
  if (std::ssize(bundle.lines) != header->requests) {
    return make_error(ErrorKind::bad_input,
                      fmt::format("it holds {} whole requests and its header promises {}: copy the "
                                  "bundle again",
                                  bundle.lines.size(), header->requests),
                      path.string());
  }
  for (std::size_t i = 0; i < bundle.lines.size(); ++i) {
    if (const Status whole = wire::check_seal(bundle.lines[i]); !whole) {
      return make_error(ErrorKind::bad_input, whole.error().message,
                        fmt::format("{}:{}", path.string(), i + 2));
    }
  }
  return bundle;
}

// A line of the bundle; without a request when it is none.
struct Entry {
  std::int64_t id = 0;
  Result<WorkerRequest> request;
};

Entry read_entry(const std::string& line) {
  Result<WorkerRequest> request = parse_request(line);
  const std::int64_t id = request ? request->id : refused_request_id(line);
  return {id, std::move(request)};
}

bool is(const Entry& entry, WorkerOp op) {
  return entry.request && entry.request->op == op;
}

bool needs_open_task(WorkerOp op) {
  return op == WorkerOp::build || op == WorkerOp::evaluate || op == WorkerOp::check;
}

class BundleRun {
 public:
  BundleRun(Session& session, const Bundle& bundle, ResultsFile results,
            const std::function<void(const std::string&)>& say, std::stop_token stop)
      : session_(session),
        results_(std::move(results)),
        say_(say),
        stop_(std::move(stop)),
        ahead_(session) {
    for (const std::string& line : bundle.lines) {
      entries_.push_back(read_entry(line));
    }
  }

  Result<BundleWork> work() {
    for (at_ = 0; at_ < entries_.size(); ++at_) {
      const Entry& entry = entries_[at_];
      if (results_.answers(entry.id)) {
        pass_by(entry);
        continue;
      }
      const Result<nlohmann::json> result = carry_out(entry);
      if (stop_.stop_requested()) {
        return make_error(
            ErrorKind::interrupted,
            fmt::format("interrupted after {} of {} requests; the same command goes on",
                        done_.answered, entries_.size()));
      }
      KP_TRY(write_down(entry, result));
      if (!result && result.error().kind == ErrorKind::lost) {
        return result.error();
      }
    }
    return done_;
  }

 private:
  // What an earlier run has answered; a task is opened again once something needs it.
  void pass_by(const Entry& entry) {
    ++done_.answered;
    if (is(entry, WorkerOp::open)) {
      choose_task(entry);
    } else if (is(entry, WorkerOp::close)) {
      task_.reset();
    }
  }

  void choose_task(const Entry& entry) {
    task_ = *entry.request;
    opened_.reset();
    const Result<OpenOrder> order = open_order_from_json(*task_->body);
    on_gpu_ = order && traits_of(order->judging.backend).gpu;
  }

  Result<nlohmann::json> carry_out(const Entry& entry) {
    if (!entry.request) {
      return entry.request.error();
    }
    const WorkerRequest& request = *entry.request;
    if (request.op == WorkerOp::open) {
      choose_task(entry);
      return open();
    }
    if (request.op == WorkerOp::close) {
      ahead_.stop();
      task_.reset();
    }
    if (!needs_open_task(request.op)) {
      return handle(request);
    }
    KP_TRY(need_task());
    if (request.op != WorkerOp::evaluate) {
      return handle(request);
    }
    build_ahead();
    first_evaluation_ns_ = first_evaluation_ns_ == 0 ? now_ns() : first_evaluation_ns_;
    Result<nlohmann::json> result = handle(request);
    if (was_not_judged(result) && !stop_.stop_requested()) {
      // Never the candidate's fault: once more, with everything set up anew.
      opened_.reset();
      KP_TRY(need_task());
      result = handle(request);
    }
    return result;
  }

  Result<nlohmann::json> handle(const WorkerRequest& request) {
    return session_.handle(request, [](const WorkerEvent&) {}, stop_);
  }

  Result<nlohmann::json> open() {
    ahead_.stop();
    Result<nlohmann::json> result = handle(*task_);
    opened_ = result ? Status() : Status(result.error());
    return result;
  }

  Status need_task() {
    if (!task_) {
      return make_error(ErrorKind::bad_input,
                        "no task is open: the bundle needs an `open` before this request");
    }
    if (!opened_) {
      (void)open();
    }
    if (!*opened_) {
      Error error = opened_->error();
      error.message =
          fmt::format("the task of request {} cannot be opened: {}", task_->id, error.message);
      return error;
    }
    return {};
  }

  // A timing on the CPU waits for the builds under way, so there only the next one is built; those
  // of a GPU go on beside it, on other cores.
  void build_ahead() {
    if (!on_gpu_) {
      ahead_.start(next_candidates(1), 0);
    } else if (!ahead_.working()) {
      ahead_.start(next_candidates(entries_.size()), cores_of_a_gpu_timing);
    }
  }

  [[nodiscard]] std::vector<Candidate> next_candidates(std::size_t most) const {
    std::vector<Candidate> candidates;
    for (std::size_t i = at_ + 1; i < entries_.size() && candidates.size() < most; ++i) {
      if (is(entries_[i], WorkerOp::open) || is(entries_[i], WorkerOp::close)) {
        break;
      }
      if (!is(entries_[i], WorkerOp::evaluate) || results_.answers(entries_[i].id)) {
        continue;
      }
      const Result<EvaluateOrder> order = evaluate_order_from_json(*entries_[i].request->body);
      if (order && order->candidate) {
        candidates.push_back(*order->candidate);
      }
    }
    return candidates;
  }

  static bool was_not_judged(const Result<nlohmann::json>& result) {
    if (!result) {
      return result.error().kind == ErrorKind::lost;
    }
    const Result<Evaluated> evaluated = evaluated_from_json(*result);
    return evaluated && evaluated->certificate.verdict.outcome == Outcome::not_judged;
  }

  Status write_down(const Entry& entry, const Result<nlohmann::json>& result) {
    const Result<std::string> line =
        result ? reply_line(entry.id, *result) : Result<std::string>(result.error());
    if (is(entry, WorkerOp::evaluate) && line) {
      const Result<Evaluated> evaluated = evaluated_from_json(*result);
      done_.judging_ns += evaluated ? evaluated->certificate.verdict.judge_ns : 0;
      done_.evaluating_ns = now_ns() - first_evaluation_ns_;
    }
    KP_TRY(results_.append(line ? *line : error_line(entry.id, line.error())));
    ++(line ? done_.answered : done_.failed);
    say_(fmt::format("[{}/{}] {}", at_ + 1, entries_.size(),
                     line ? summary(*entry.request, *result)
                          : fmt::format("request {}: {}", entry.id, line.error().text())));
    return {};
  }

  static std::string summary(const WorkerRequest& request, const nlohmann::json& result) {
    if (request.op != WorkerOp::evaluate) {
      return fmt::format("{}: done", name_of(request.op));
    }
    const Result<Evaluated> evaluated = evaluated_from_json(result);
    if (!evaluated) {
      return evaluated.error().text();
    }
    const Verdict& verdict = evaluated->certificate.verdict;
    std::string text =
        fmt::format("{}: {}", evaluated->certificate.candidate.name, name_of(verdict.outcome));
    if (!verdict.rule.empty()) {
      text += ": " + verdict.rule;
    }
    if (verdict.timing.comparison != Comparison::not_timed) {
      text += fmt::format(", {:.2f}x", verdict.timing.speedup);
    }
    return text;
  }

  Session& session_;
  ResultsFile results_;
  const std::function<void(const std::string&)>& say_;
  std::stop_token stop_;
  BuildAhead ahead_;
  std::vector<Entry> entries_;
  std::size_t at_ = 0;
  BundleWork done_;
  std::int64_t first_evaluation_ns_ = 0;
  std::optional<WorkerRequest> task_;  // the `open` in force
  std::optional<Status> opened_;       // how it went; nothing: not done by this process yet
  bool on_gpu_ = false;
};

}  // namespace

Result<BundleWork> work_off_bundle(Session& session, const std::filesystem::path& in,
                                   const std::filesystem::path& out,
                                   const std::function<void(const std::string&)>& say,
                                   std::stop_token stop) {
  KP_LET(const Bundle bundle, read_bundle(in));
  KP_LET(ResultsFile results, ResultsFile::open(out, bundle.header));
  return BundleRun(session, bundle, std::move(results), say, std::move(stop)).work();
}

}  // namespace kernelpro
