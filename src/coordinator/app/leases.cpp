#include "coordinator/app/leases.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>

#include "common/base/file.hpp"
#include "common/base/random.hpp"
#include "common/base/unique_fd.hpp"
#include "common/wire/json.hpp"

namespace kernelpro {

namespace {

constexpr std::time_t lease_seconds = 1800;

struct Held {
  std::string token;
  std::time_t until = 0;
};

std::filesystem::path lease_file(const std::filesystem::path& store, const Lease& lease) {
  return store / "leases" / fmt::format("{}.{}.json", lease.run, lease.node);
}

// Who has it, or had it last; nothing where nobody did or the file says nothing.
std::optional<Held> read_lease(const std::filesystem::path& file, const Lease& lease) {
  const Result<std::string> text = read_file(file);
  const Result<nlohmann::json> json = text ? parse_json(*text) : text.error();
  const auto is = [&json](const char* key, auto&& type) {
    return json->contains(key) && std::invoke(type, (*json)[key]);
  };
  using Json = nlohmann::json;
  if (!json || !is("created", &Json::is_string) || (*json)["created"] != lease.created ||
      !is("token", &Json::is_string) || !is("until", &Json::is_number_integer)) {
    return std::nullopt;
  }
  return Held{(*json)["token"], (*json)["until"].get<std::time_t>()};
}

}  // namespace

Result<LeaseTaken> take_lease(const std::filesystem::path& store, const Lease& lease,
                              bool take_over) {
  const std::filesystem::path file = lease_file(store, lease);
  KP_TRY(make_directories(file.parent_path()));
  const std::filesystem::path lock_file = file.parent_path() / "lock";
  const UniqueFd lock(::open(lock_file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock.valid() || ::flock(lock.get(), LOCK_EX) != 0) {
    return errno_error("locking " + lock_file.string());
  }
  const std::time_t now = std::time(nullptr);
  const auto text = [](std::time_t at) { return fmt::format("{:%FT%TZ}", fmt::gmtime(at)); };
  const std::optional<Held> held = read_lease(file, lease);
  // One that ends later than any given now is of a clock that was set back since.
  const bool runs = held && held->until > now && held->until <= now + lease_seconds;
  if (runs && !take_over) {
    return LeaseTaken{std::nullopt, text(held->until)};
  }
  const std::string token = fmt::format("{:016x}", secret_seed());
  const std::time_t until = now + lease_seconds;
  const nlohmann::json json = {{"token", token}, {"created", lease.created}, {"until", until}};
  KP_TRY(write_file_atomic(file, json.dump() + "\n"));
  return LeaseTaken{token, text(until)};
}

Status check_lease(const std::filesystem::path& store, const Lease& lease,
                   const std::string& token) {
  const std::optional<Held> held = read_lease(lease_file(store, lease), lease);
  if (held && held->token == token) {
    return {};
  }
  return make_error(ErrorKind::bad_input,
                    held ? "the lease was given to somebody else; ask for the next proposal"
                         : "it was never given out; ask for the next proposal",
                    fmt::format("proposal {}/{}", lease.run, lease.node));
}

}  // namespace kernelpro
