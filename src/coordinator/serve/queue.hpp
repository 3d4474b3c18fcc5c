// Work that was accepted, kept in one SQLite file until it has its one result.
//
// What is accepted is on disk before anybody is told so. A process that is killed leaves its work
// as it was: the next one judges again only what was under way, and a bounded number of times.
// Any thread may call.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.hpp"
#include "common/base/unique_fd.hpp"
#include "coordinator/store/database.hpp"

namespace kernelpro::serve {

// How often something is begun: a candidate that takes the machine down must not do so for ever.
inline constexpr int most_attempts = 3;

struct NewWork {
  std::string kind;     // "evaluate", "diagnose"
  std::string request;  // JSON
  std::string group;    // equal ones are judged with one task open
  std::string content;  // hash of all that the result follows from, the machine aside; empty: it is
                        // not to be shared
};

struct Work {
  std::string id;
  NewWork what;
  int attempts = 0;  // with this one
};

enum class WorkState { queued, judging, done };
[[nodiscard]] std::string_view name_of(WorkState state);

struct Standing {
  std::string id;
  std::string kind;
  std::string client;
  WorkState state = WorkState::queued;
  int attempts = 0;
  std::string created;
  std::string ended;   // empty: not yet
  std::string result;  // JSON, where it is done
};

struct QueueLimits {
  std::int64_t all = 20'000;       // that wait or are judged
  std::int64_t of_client = 5'000;  // the same of one client
  // Pieces of work that are kept at least, the newest ones: of older ones the results go, and the
  // keys by which they were asked for. Never fewer than `all`.
  std::int64_t kept = 100'000;
};

// What became of a request.
struct Accepted {
  enum class How {
    accepted,
    repeated,     // its idempotency key was there: these are the ids of then
    other_body,   // the key was there, with another body
    full,         // too much waits
    client_full,  // too much of this client waits
  };
  How how = How::accepted;
  std::vector<std::string> ids;
};

// What is kept of a result.
struct Finish {
  std::string result;       // JSON
  std::string certificate;  // JSON; empty: there is none
  std::string machine;      // empty: it is not to be shared
};

class Queue {
 public:
  // An error of kind busy where another process serves this store.
  [[nodiscard]] static Result<std::unique_ptr<Queue>> open(const std::filesystem::path& store,
                                                           QueueLimits limits);

  // All of it or nothing. `key` may be empty.
  [[nodiscard]] Result<Accepted> accept(const std::string& client, const std::vector<NewWork>& work,
                                        const std::string& key, const std::string& body_hash);

  // The oldest of that group, else the oldest of all; nothing: none waits.
  [[nodiscard]] Result<std::optional<Work>> take(const std::string& group);
  // False: it was done already, and that result stays.
  [[nodiscard]] Result<bool> finish(const std::string& id, const Finish& finish);
  // Another attempt at what is under way.
  [[nodiscard]] Status begin_again(const std::string& id);
  // It was not judged after all, and that does not count.
  [[nodiscard]] Status give_back(const std::string& id);
  // What was given up at the start, because it was begun too often.
  [[nodiscard]] Result<std::vector<std::string>> begun_too_often();

  [[nodiscard]] Result<std::optional<Standing>> look(const std::string& id);
  [[nodiscard]] Result<std::optional<std::string>> certificate(const std::string& id);
  // The id of what has the result of that content on that machine.
  [[nodiscard]] Result<std::optional<std::string>> find_equal(const std::string& content,
                                                              const std::string& machine);

  [[nodiscard]] std::int64_t open_count() const;
  [[nodiscard]] Result<std::int64_t> done_count();

 private:
  Queue(store::Database database, UniqueFd lock, QueueLimits limits)
      : database_(std::move(database)), lock_(std::move(lock)), limits_(limits) {}
  [[nodiscard]] Status begin();
  [[nodiscard]] Status forget_oldest();
  [[nodiscard]] Result<std::optional<Accepted>> earlier(const std::string& client,
                                                        const std::string& key,
                                                        const std::string& body_hash);
  [[nodiscard]] Result<std::string> add(const std::string& client, const NewWork& work);
  [[nodiscard]] Result<std::optional<Work>> first(const std::string& group);

  mutable std::mutex mutex_;
  store::Database database_;
  UniqueFd lock_;
  QueueLimits limits_;
  std::map<std::string, std::int64_t> open_of_;  // by client
  std::int64_t open_ = 0;
};

}  // namespace kernelpro::serve
