#include "coordinator/dispatch/bundle.hpp"

#include <nlohmann/json.hpp>
#include <system_error>

#include "common/base/file.hpp"
#include "common/wire/sealed_line.hpp"

namespace kernelpro {

namespace {

bool is_there(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

Error unusable(const std::filesystem::path& path, const std::string& what) {
  return make_error(ErrorKind::bad_input, what, path.string());
}

std::string line_of(const std::filesystem::path& path, std::size_t number) {
  return path.string() + ":" + std::to_string(number);
}

}  // namespace

std::filesystem::path Bundle::results_of(const std::filesystem::path& file) {
  std::filesystem::path results = file;
  results += ".out";
  return results;
}

Status Bundle::check_free(const std::filesystem::path& file) {
  for (const std::filesystem::path& path : {file, results_of(file)}) {
    if (is_there(path)) {
      return unusable(path,
                      "it is there already, and may be another run's: name another file for the "
                      "bundle, or move this one away");
    }
  }
  return {};
}

Result<Bundle> Bundle::open(const std::filesystem::path& file, std::string owner) {
  Bundle bundle(file, std::move(owner));
  KP_TRY(bundle.read_requests());
  KP_TRY(bundle.read_results());
  return bundle;
}

Status Bundle::check_owner(const BundleHeader& header, const std::filesystem::path& path) const {
  return header.owner == owner_
             ? Status()
             : Status(unusable(path, "it belongs to " + header.owner + ", not to " + owner_ +
                                         ": move it away, or put the right file there"));
}

Status Bundle::read_requests() {
  if (!is_there(file_)) {
    return {};
  }
  KP_LET(const std::string text, read_file(file_));
  const std::vector<std::string> lines = whole_lines(text);
  const Result<BundleHeader> header = parse_bundle_header(lines.empty() ? "" : lines.front());
  if (!header) {
    return unusable(file_, "it is no bundle of this program: " + header.error().text());
  }
  KP_TRY(check_owner(*header, file_));
  part_ = header->part;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (const Status whole = wire::check_seal(lines[i]); !whole) {
      return unusable(line_of(file_, i + 1), whole.error().message);
    }
    const Result<WorkerRequest> request = parse_request(lines[i]);
    if (!request) {
      return unusable(line_of(file_, i + 1), "it is no request: " + request.error().text());
    }
    asked_[request->id] = request->body;
  }
  return {};
}

Status Bundle::read_results() {
  const std::filesystem::path path = results_of(file_);
  if (!is_there(path)) {
    missing_because_ = path.string() + " is not there yet";
    return {};
  }
  KP_LET(const std::string text, read_file(path));
  const std::vector<std::string> lines = whole_lines(text);
  if (lines.empty()) {
    missing_because_ = path.string() + " is empty";
    return {};
  }
  const Result<BundleHeader> header = parse_results_header(lines.front());
  if (!header) {
    return unusable(path, "it holds no results of this program: " + header.error().text());
  }
  KP_TRY(check_owner(*header, path));
  answered_part_ = header->part;
  if (part_ == 0) {
    part_ = header->part;  // the requests are gone, and their results still count
  }
  if (header->part != part_) {
    missing_because_ = path.string() + " answers part " + std::to_string(header->part) +
                       " of the bundle, which now is part " + std::to_string(part_);
    // A request has the same number in every part: what is still wanted is answered all the same.
  }
  for (std::size_t i = 1; i < lines.size(); ++i) {
    KP_TRY(take_reply(lines[i], i + 1, path));
  }
  return {};
}

Status Bundle::take_reply(const std::string& line, std::size_t number,
                          const std::filesystem::path& path) {
  if (const Status whole = wire::check_seal(line); !whole) {
    return unusable(line_of(path, number), whole.error().message);
  }
  const Result<WorkerMessage> message = parse_worker_message(line);
  const auto* reply = message ? std::get_if<WorkerReply>(&*message) : nullptr;
  if (reply == nullptr) {
    return unusable(line_of(path, number),
                    "it is no reply" + (message ? "" : ": " + message.error().text()));
  }
  if (reply->result) {
    // A recorded best may have been confirmed again when its run got a larger budget: the run went
    // on from the first.
    if (!recorded_ || !results_.contains(reply->id)) {
      results_[reply->id] = {*reply->result, line_of(path, number)};
    }
    failures_.erase(reply->id);
  } else if (!results_.contains(reply->id)) {
    failures_[reply->id] = reply->result.error();
  }
  return {};
}

Result<Bundle> Bundle::recorded(const std::filesystem::path& file) {
  KP_LET(const std::string text, read_file(file));
  Bundle bundle(file, "");
  bundle.recorded_ = true;
  const std::vector<std::string> lines = whole_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!parse_results_header(lines[i])) {
      KP_TRY(bundle.take_reply(lines[i], i + 1, file));
    } else if (bundle.owner_.empty()) {
      bundle.owner_ = parse_results_header(lines[i])->owner;
    }
  }
  if (bundle.owner_.empty()) {
    return unusable(file, "it holds no results of this program");
  }
  return bundle;
}

const nlohmann::json* Bundle::result(std::int64_t id) const {
  const auto found = results_.find(id);
  return found == results_.end() ? nullptr : found->second.json.get();
}

const nlohmann::json* Bundle::answered_request(std::int64_t id) const {
  const auto found = asked_.find(id);
  return answered_part_ != part_ || found == asked_.end() ? nullptr : found->second.get();
}

Error Bundle::refused(std::int64_t id, const Error& why) const {
  return unusable(results_.at(id).place, why.text());
}

Status Bundle::write(const std::vector<Request>& requests) {
  if (recorded_) {
    return unusable(file_, "the recording of " + owner_ +
                               " has no results for what is to be judged now: it ended before, or "
                               "the run goes another way");
  }
  std::string text = bundle_header_line({owner_, part_ + 1, std::ssize(requests)});
  std::map<std::int64_t, JsonObject> asked;
  for (const Request& request : requests) {
    KP_LET(const std::string line, request_line(request.id, request.op, *request.body));
    text += line;
    asked[request.id] = request.body;
  }
  KP_TRY(write_file_atomic(file_, text));
  ++part_;
  asked_ = std::move(asked);
  results_.clear();
  failures_.clear();
  missing_because_.clear();
  return {};
}

}  // namespace kernelpro
