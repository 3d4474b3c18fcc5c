// Who is let in: by the names that we are asked under, the pages that ask, and tokens.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/result.hpp"
#include "coordinator/http/message.hpp"
#include "coordinator/http/mount.hpp"

namespace kernelpro::http {

struct Token {
  std::string hash;  // SHA-256 of it
  Caller caller;
};

// A line each: NAME TOKEN, and behind it "admin" for those who may run code outside the sandbox.
// Empty lines and those that begin with # are left out. A bad_input error has the line.
[[nodiscard]] Result<std::vector<Token>> read_tokens(const std::filesystem::path& file);

class Gate {
 public:
  // `names` are hosts that we may be asked under beside loopback and `address`. Without tokens
  // everybody on this machine is the caller "local".
  Gate(const std::string& address, std::vector<std::string> names, std::vector<Token> tokens);

  // A page of another host cannot ask in a reader's name, and a name that somebody else lets point
  // to us is none of ours.
  [[nodiscard]] std::optional<Refusal> refused(const Request& request) const;
  [[nodiscard]] std::variant<Caller, Refusal> caller_of(const Request& request) const;

 private:
  [[nodiscard]] bool is_ours(const std::string& host) const;

  std::vector<std::string> names_;
  bool any_name_ = false;  // all addresses are listened at, no names are given, and tokens stand
  std::vector<Token> tokens_;
};

}  // namespace kernelpro::http
