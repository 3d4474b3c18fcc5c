// Chromium without a window, spoken to through its debugging pipe.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/base/deadline.hpp"
#include "common/base/process.hpp"
#include "common/base/spawn.hpp"
#include "common/base/unique_fd.hpp"

namespace kernelpro::testing {

inline std::optional<std::string> find_chromium() {
  for (const char* const name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (auto found = find_program(name)) {
      return found;
    }
  }
  return std::nullopt;
}

// One page in one browser, which ends with this value. Messages are JSON with a zero byte behind.
class Browser {
 public:
  using Json = nlohmann::json;

  // `folder` takes its profile and the two pipes.
  Browser(const std::string& program, const std::filesystem::path& folder) {
    std::filesystem::create_directories(folder);
    const std::string to = (folder / "to").string();
    const std::string from = (folder / "from").string();
    EXPECT_EQ(::mkfifo(to.c_str(), 0600), 0);
    EXPECT_EQ(::mkfifo(from.c_str(), 0600), 0);
    // Both ways, so that neither side waits for the other to open.
    to_ = UniqueFd(::open(to.c_str(), O_RDWR | O_CLOEXEC));
    from_ = UniqueFd(::open(from.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
    Command command;
    // Names lead nowhere: what the browser asks for by itself reaches nobody either. A container
    // has no room for the browser's own sandbox.
    command.arguments = {"/bin/sh",
                         "-c",
                         "program=$1 to=$2 from=$3; shift 3; exec \"$program\" \"$@\" 3<\"$to\" "
                         "4>\"$from\" >\"$to.log\" 2>&1",
                         "sh",
                         program,
                         to,
                         from,
                         "--headless",
                         "--remote-debugging-pipe",
                         "--no-sandbox",
                         "--disable-gpu",
                         "--disable-dev-shm-usage",
                         "--no-first-run",
                         "--disable-background-networking",
                         "--disable-breakpad",
                         "--host-resolver-rules=MAP * ~NOTFOUND",
                         "--user-data-dir=" + (folder / "profile").string(),
                         "about:blank"};
    command.environment = {{"HOME", folder.string()}, {"TMPDIR", folder.string()}};
    command.ends_with_us = true;
    const Result<pid_t> pid = spawn(command, {});
    EXPECT_TRUE(pid.ok()) << pid.error().text();
    pid_ = pid.ok() ? *pid : -1;
    const Json target = call("Target.createTarget", {{"url", "about:blank"}});
    session_ = call("Target.attachToTarget",
                    {{"targetId", target.value("targetId", "")}, {"flatten", true}})
                   .value("sessionId", "");
    for (const char* const domain : {"Page", "Runtime", "Log", "Network"}) {
      call(std::string(domain) + ".enable");
    }
  }
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;
  ~Browser() {
    if (pid_ <= 0) {
      return;
    }
    session_.clear();
    send("Browser.close", Json::object());
    int status = 0;
    const Deadline deadline(10'000);
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
      if (deadline.passed()) {
        kill_group(pid_);
        return;
      }
      ::poll(nullptr, 0, 20);
    }
  }

  // Sends a command and waits for its result; what happens meanwhile goes to `events`.
  Json call(const std::string& method, const Json& parameters = Json::object()) {
    const int id = send(method, parameters);
    const Deadline deadline(60'000);
    while (!deadline.passed()) {
      const std::optional<Json> message = receive(deadline);
      if (message && message->value("id", 0) == id) {
        EXPECT_FALSE(message->contains("error")) << method << ": " << message->dump();
        return message->value("result", Json::object());
      }
      if (message) {
        events_.push_back(*message);
      }
    }
    ADD_FAILURE() << method << " was not answered";
    return Json::object();
  }

  // Opens the file and waits until it is all there.
  void open(const std::filesystem::path& file) {
    events_.clear();
    call("Page.navigate", {{"url", "file://" + file.string()}});
    const Deadline deadline(60'000);
    while (happened("Page.loadEventFired").empty()) {
      if (deadline.passed()) {
        ADD_FAILURE() << file << " was not loaded";
        return;
      }
      if (const std::optional<Json> message = receive(deadline)) {
        events_.push_back(*message);
      }
    }
  }

  // The value of a JavaScript expression on the page.
  Json evaluate(const std::string& expression) {
    const Json answer =
        call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}});
    EXPECT_FALSE(answer.contains("exceptionDetails")) << expression << "\n" << answer.dump(2);
    return answer.value("result", Json::object()).value("value", Json());
  }

  void be_wide(int width, int height) {
    call("Emulation.setDeviceMetricsOverride",
         {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", width < 600}});
  }

  void prefer(const std::string& scheme, const std::string& media = "screen") {
    call("Emulation.setEmulatedMedia",
         {{"media", media},
          {"features", Json::array({{{"name", "prefers-color-scheme"}, {"value", scheme}}})}});
  }

  // What was said of each event of that name since the page was opened.
  [[nodiscard]] std::vector<Json> happened(const std::string& method) const {
    std::vector<Json> out;
    for (const Json& event : events_) {
      if (event.value("method", "") == method) {
        out.push_back(event.value("params", Json::object()));
      }
    }
    return out;
  }

 private:
  int send(const std::string& method, const Json& parameters) {
    Json message = {{"id", ++last_}, {"method", method}, {"params", parameters}};
    if (!session_.empty()) {
      message["sessionId"] = session_;
    }
    const std::string text = message.dump() + '\0';
    EXPECT_EQ(::write(to_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    return last_;
  }

  // The next message, or none when nothing came for a while.
  std::optional<Json> receive(const Deadline& deadline) {
    for (std::size_t end = buffer_.find('\0'); end == std::string::npos; end = buffer_.find('\0')) {
      pollfd readable{from_.get(), POLLIN, 0};
      if (::poll(&readable, 1, deadline.step(1000)) <= 0) {
        return std::nullopt;
      }
      std::string piece(1 << 16, '\0');
      const ssize_t got = ::read(from_.get(), piece.data(), piece.size());
      buffer_.append(piece, 0, got > 0 ? static_cast<std::size_t>(got) : 0);
    }
    const std::size_t end = buffer_.find('\0');
    Json message = Json::parse(buffer_.substr(0, end), nullptr, false);
    buffer_.erase(0, end + 1);
    return message;
  }

  UniqueFd to_;
  UniqueFd from_;
  pid_t pid_ = -1;
  int last_ = 0;
  std::string session_;
  std::string buffer_;
  std::vector<Json> events_;
};

}  // namespace kernelpro::testing
