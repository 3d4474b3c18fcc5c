// What the coordinator adds to calls of language models, 32 of them in flight, as one JSON value.
//
//   cmake --build --preset release && build/release/bin/llm_calls >
//   bench/results/llm_calls-NAME.json
//
// A server in a process of its own streams an answer over loopback, as a model does, and ends it
// after a fixed delay. Everything beyond that delay is what was added: the request written and
// counted, the budget, the call kept in a store before and after, the last of the answer read and
// all of it put together. Goals: at most 20 ms a call, less than 300 MB.
#include <curl/curl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "common/base/clock.hpp"
#include "common/base/file.hpp"
#include "common/base/process.hpp"
#include "common/base/random.hpp"
#include "common/wire/json.hpp"
#include "coordinator/app/store_call_journal.hpp"
#include "coordinator/llm/make_caller.hpp"
#include "coordinator/task/load.hpp"
#include "must.hpp"
#include "support/llm_server/http_server.hpp"
#include "worker/ceilings/machine.hpp"

namespace {

using namespace kernelpro;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr int in_flight = 32;
constexpr int calls_each = 10;
constexpr int delay_ms = 2000;
constexpr int pieces = 50;                     // of an answer, evenly over the delay
constexpr std::size_t prompt_bytes = 190'000;  // about 48,000 tokens
constexpr int answer_tokens = 2000;
constexpr double goal_ms = 20;
constexpr std::int64_t goal_bytes = 300'000'000;

// The events of `answer_tokens` tokens, and then `ending`, cut into pieces.
std::vector<std::string> in_pieces(const std::string& beginning, const std::string& token,
                                   const std::string& ending) {
  std::vector<std::string> cut(pieces);
  cut.front() = beginning;
  for (int i = 0; i < answer_tokens; ++i) {
    cut[static_cast<std::size_t>(i * pieces / answer_tokens)] += token;
  }
  cut.back() += ending;
  return cut;
}

std::vector<std::string> anthropic_answer() {
  const auto event = [](const json& data) {
    return "event: " + data["type"].get<std::string>() + "\ndata: " + data.dump() + "\n\n";
  };
  return in_pieces(event({{"type", "message_start"},
                          {"message", {{"model", "m"}, {"usage", {{"input_tokens", 9}}}}}}),
                   event({{"type", "content_block_delta"},
                          {"index", 0},
                          {"delta", {{"type", "text_delta"}, {"text", "for (i"}}}}),
                   event({{"type", "message_delta"},
                          {"delta", {{"stop_reason", "end_turn"}}},
                          {"usage", {{"output_tokens", answer_tokens}}}}) +
                       event({{"type", "message_stop"}}));
}

std::vector<std::string> openai_answer() {
  const auto event = [](const json& data) { return "data: " + data.dump() + "\n\n"; };
  const auto chunk = [&event](const json& delta, const json& finish) {
    return event(
        {{"id", "chatcmpl-01"},
         {"object", "chat.completion.chunk"},
         {"model", "m"},
         {"choices", json::array({{{"index", 0}, {"delta", delta}, {"finish_reason", finish}}})}});
  };
  return in_pieces(
      "", chunk({{"content", "for (i"}}, nullptr),
      chunk(json::object(), "stop") +
          event({{"choices", json::array()},
                 {"usage", {{"prompt_tokens", 9}, {"completion_tokens", answer_tokens}}}}) +
          "data: [DONE]\n\n");
}

// Ends an answer when the delay is over, counted from when the request was read.
llm_server::Handler streams_slowly(std::vector<std::string> answer) {
  return [answer = std::move(answer)](const llm_server::Seen&, llm_server::Wire& wire) {
    const auto start = std::chrono::steady_clock::now();
    wire.begin(200, "text/event-stream");
    for (std::size_t i = 0; i < answer.size(); ++i) {
      std::this_thread::sleep_until(
          start + std::chrono::milliseconds(delay_ms * static_cast<int>(i + 1) / pieces));
      wire.chunk(answer[i]);
    }
    wire.end();
  };
}

// Answers until its input ends.
int serve() {
  using namespace kernelpro::llm_server;
  const Handler anthropic = streams_slowly(anthropic_answer());
  const Handler openai = streams_slowly(openai_answer());
  const HttpServer server([&](const Seen& seen, Wire& wire) {
    (seen.target == "/v1/messages" ? anthropic : openai)(seen, wire);
  });
  fmt::print("{}\n", server.url());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

ChatRequest request(int number) {
  ChatRequest request;
  request.system = std::string(prompt_bytes / 2, 's');
  ChatMessage message;
  message.text = fmt::format("{} ", number) + std::string(prompt_bytes / 2, 'u');
  for (std::size_t i = 5; i < message.text.size(); i += 6) {
    message.text[i] = ' ';
  }
  request.messages = {std::move(message)};
  return request;
}

// Milliseconds of every call beyond the server's delay.
std::vector<double> measure(Caller& caller) {
  std::mutex mutex;
  std::vector<double> added;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < in_flight; ++thread) {
    threads.emplace_back([&, thread] {
      // Calls of a run do not begin together.
      Random random(static_cast<std::uint64_t>(thread));
      std::this_thread::sleep_for(std::chrono::milliseconds(random.below(delay_ms)));
      for (int i = 0; i < calls_each; ++i) {
        const int number = thread * calls_each + i + 1;
        const ChatRequest asked = request(number);
        const std::int64_t start = now_ns();
        const Called called = must(caller.call({number, LlmRole::coder, 1}, asked, {}));
        const double ms = static_cast<double>(now_ns() - start) / 1e6;
        if (called.kind != Called::Kind::answered || !called.answer.usage_known) {
          give_up("a call was not answered: " + called.reason);
        }
        const std::scoped_lock lock(mutex);
        added.push_back(ms - delay_ms);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  std::sort(added.begin(), added.end());
  return added;
}

double share(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

std::vector<double> measure_provider(const std::string& provider, const std::string& url,
                                     Store& store, const Task& task, const fs::path& key) {
  Run run;
  run.created = "2026-01-01T00:00:00Z";
  run.program_version = KERNELPRO_VERSION;
  run.task = task;
  run.task_hash = task_hash(task);
  run.settings.llm.emplace();
  LlmSettings& settings = *run.settings.llm;
  settings.llm = provider + ":m";
  settings.base_url = url;
  settings.key_file = key.string();
  settings.token_budget = 1'000'000'000'000;
  const RunLock lock = must(store.create_run(run));
  StoreCallJournal journal(must(Store::open(store.directory(), StoreMode::write)), run.id);
  const std::unique_ptr<BudgetedCaller> caller = must(make_caller(run.id, settings, journal));
  fmt::print(stderr, "{}: {} calls\n", provider, in_flight * calls_each);
  return measure(*caller);
}

json result_of(const std::vector<double>& added) {
  return {{"calls", added.size()},
          {"added_ms_median", share(added, 0.5)},
          {"added_ms_p99", share(added, 0.99)},
          {"added_ms_most", added.back()}};
}

}  // namespace

int main(int count, char** /*arguments*/) {
  if (count > 1) {
    return serve();
  }
  const ScratchDir scratch = must(ScratchDir::create("llm-calls"));
  const fs::path key = scratch.path() / "key";
  must(write_file_atomic(key, "sk-of-nobody\n"));
  Command command;
  command.arguments = {fs::read_symlink("/proc/self/exe").string(), "serve"};
  ChildProcess server = must(ChildProcess::start(command));
  const std::string url = must(server.read_line(20'000));
  const Task task = must(load_task(fs::path(KERNELPRO_SOURCE_DIR) / "tasks/gemm"));
  Store store = must(Store::open(scratch.path() / "store", StoreMode::write));
  json out = {{"bench", "llm_calls"},
              {"version", KERNELPRO_VERSION},
              {"libcurl", curl_version_info(CURLVERSION_NOW)->version},
              {"machine", to_json(describe_machine())},
              {"in_flight", in_flight},
              {"delay_ms", delay_ms},
              {"prompt_bytes", prompt_bytes},
              {"answer_tokens", answer_tokens},
              {"added_goal_ms", goal_ms},
              {"peak_rss_goal_bytes", goal_bytes}};
  for (const std::string provider : {"anthropic", "openai"}) {
    out[provider] = result_of(measure_provider(provider, url, store, task, key));
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  out["peak_rss_bytes"] = static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
  fmt::print("{}\n", out.dump(2));
  return 0;
}
