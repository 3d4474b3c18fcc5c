// The coordinator's end of a bundle: requests in one file, which somebody carries to a worker, and
// results in another, `FILE.out`, which come back.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.hpp"
#include "common/wire/bundle_line.hpp"
#include "common/wire/worker_line.hpp"

namespace kernelpro {

class Bundle {
 public:
  // Looks at what lies at `file` and beside it. Refuses the requests or results of another owner.
  [[nodiscard]] static Result<Bundle> open(const std::filesystem::path& file, std::string owner);

  // The results of a run that was: those of all its parts, one after the other in one file. Nothing
  // more can be asked for.
  [[nodiscard]] static Result<Bundle> recorded(const std::filesystem::path& file);

  // An error when a file is there already, so that a new owner must take another name.
  [[nodiscard]] static Status check_free(const std::filesystem::path& file);

  [[nodiscard]] static std::filesystem::path results_of(const std::filesystem::path& file);

  // The result that came back for a request; nullptr when there is none, or it failed.
  [[nodiscard]] const nlohmann::json* result(std::int64_t id) const;

  // What is wrong with the result that came back for a request, with its file and line.
  [[nodiscard]] Error refused(std::int64_t id, const Error& why) const;

  // The body of the request that the results there answer; nullptr when it is not known, because
  // the requests are gone or have become others since.
  [[nodiscard]] const nlohmann::json* answered_request(std::int64_t id) const;

  // Whether the file asks for that request.
  [[nodiscard]] bool asks(std::int64_t id) const { return asked_.contains(id); }

  [[nodiscard]] bool is_recorded() const { return recorded_; }

  // How the requests that failed did, by their ids.
  [[nodiscard]] const std::map<std::int64_t, Error>& failures() const { return failures_; }

  // "jobs.out is not there yet", or of an earlier part: why some or all did not come back. Empty
  // when everything did.
  [[nodiscard]] const std::string& missing_because() const { return missing_because_; }

  struct Request {
    std::int64_t id = 0;
    WorkerOp op = WorkerOp::describe;
    JsonObject body;
  };

  // Replaces the file by its next part. Only when no result of the last one is wanted any more.
  [[nodiscard]] Status write(const std::vector<Request>& requests);

 private:
  Bundle(std::filesystem::path file, std::string owner)
      : file_(std::move(file)), owner_(std::move(owner)) {}
  [[nodiscard]] Status read_requests();
  [[nodiscard]] Status read_results();
  // The reply on a line of `path`, which is counted from 1.
  [[nodiscard]] Status take_reply(const std::string& line, std::size_t number,
                                  const std::filesystem::path& path);
  [[nodiscard]] Status check_owner(const BundleHeader& header,
                                   const std::filesystem::path& path) const;

  std::filesystem::path file_;
  std::string owner_;
  std::int64_t part_ = 0;
  std::int64_t answered_part_ = 0;  // 0: there are no results
  bool recorded_ = false;
  std::map<std::int64_t, JsonObject> asked_;
  struct Found {
    JsonObject json;
    std::string place;  // "jobs.out:4"
  };
  std::map<std::int64_t, Found> results_;
  std::map<std::int64_t, Error> failures_;
  std::string missing_because_;
};

}  // namespace kernelpro
