// Errors as values: Result<T> holds a T or an Error.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace kernelpro {

enum class ErrorKind {
  bad_input,    // the user's file or argument is wrong
  environment,  // the machine lacks something (compiler, landlock, library)
  io,           // a file or a pipe failed (disk full, permission)
  busy,         // a lock or a device is held by somebody else
  lost,         // a partner process died or broke the protocol
  timeout,      // a partner did not answer in time
  interrupted,  // the user asked to stop
  internal,     // a bug of ours
};

// `message` says what happened and what to do; `context` says where (file:line, key, command).
struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string message;
  std::string context;

  [[nodiscard]] std::string text() const {
    return context.empty() ? message : context + ": " + message;
  }
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a function returns its value as it is.
  Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] T& value() & { return std::get<0>(content_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(content_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(content_)); }
  [[nodiscard]] const Error& error() const { return std::get<1>(content_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

inline Error make_error(ErrorKind kind, std::string message, std::string context = {}) {
  return Error{.kind = kind, .message = std::move(message), .context = std::move(context)};
}

}  // namespace kernelpro

// Leaves the current function with the error of EXPR, if it has one.
#define KP_TRY(expr)                                \
  do {                                              \
    if (auto kp_status = (expr); !kp_status.ok()) { \
      return kp_status.error();                     \
    }                                               \
  } while (false)

// Declares DECLARATION with the value of the expression behind it, or leaves the current function
// with its error: KP_LET(const Task task, load_task(path));
#define KP_LET(declaration, ...) KP_LET_BY(KP_JOIN(kp_result_, __LINE__), declaration, __VA_ARGS__)
#define KP_LET_BY(result, declaration, ...) \
  auto result = (__VA_ARGS__);              \
  if (!result.ok()) {                       \
    return std::move(result).error();       \
  }                                         \
  declaration = *std::move(result)
#define KP_JOIN(a, b) KP_JOIN_BY(a, b)
#define KP_JOIN_BY(a, b) a##b
