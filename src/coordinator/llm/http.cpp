#include "coordinator/llm/http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "common/base/clock.hpp"
#include "common/base/text.hpp"
#include "coordinator/llm/base_url.hpp"
#include "coordinator/llm/lower_case.hpp"

namespace kernelpro {

// With names that link, since HttpClient::Pool holds them.
template <auto Free>
struct CurlFreed {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};

using CurlEasy = std::unique_ptr<CURL, CurlFreed<curl_easy_cleanup>>;
using CurlMulti = std::unique_ptr<CURLM, CurlFreed<curl_multi_cleanup>>;

// Connections live in the multi handle, so the two stay together.
struct CurlHandles {
  CurlMulti multi;
  CurlEasy easy;
};

namespace {

using List = std::unique_ptr<curl_slist, CurlFreed<curl_slist_free_all>>;

constexpr long connect_timeout_ms = 10'000;
constexpr double last_wait_seconds = 0.5;
constexpr int longest_poll_ms = 1000;

// What libcurl's callbacks see of a running post.
struct Transfer {
  Transfer(const HttpPost& the_post, const HttpReceiver& the_receiver)
      : post(the_post), receiver(the_receiver), stall_seconds(the_post.stall_seconds) {}

  const HttpPost& post;
  const HttpReceiver& receiver;
  HttpHead head;
  bool head_ended = false;
  std::size_t received = 0;
  std::int64_t last_byte_ns = 0;  // 0: the answer has not begun
  double stall_seconds;
  bool last = false;                            // what comes now keeps nobody waiting
  HttpOutcome verdict = HttpOutcome::finished;  // why we ended it ourselves
};

void take_header(HttpHead& head, std::string_view line) {
  if (line.starts_with("HTTP/")) {
    head = {};  // of a proxy or "100 Continue" before
    return;
  }
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    return;
  }
  const std::string name = lower_case(trimmed(line.substr(0, colon)));
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (name == "content-type") {
    head.content_type = lower_case(trimmed(value.substr(0, value.find(';'))));
  } else if (name == "retry-after") {
    head.retry_after = value;
  } else if (name == "location") {
    head.location = value;
  }
}

std::size_t on_header(char* data, std::size_t size, std::size_t count, void* user) {
  Transfer& transfer = *static_cast<Transfer*>(user);
  const std::string_view line(data, size * count);
  // What follows a head is that of the next answer, or trailers.
  if (!transfer.head_ended || line.starts_with("HTTP/")) {
    transfer.head_ended = trimmed(line).empty();
    take_header(transfer.head, line);
  }
  return size * count;
}

struct Incoming {
  Transfer* transfer = nullptr;
  CURL* easy = nullptr;
};

std::size_t on_body(char* data, std::size_t size, std::size_t count, void* user) {
  const Incoming& incoming = *static_cast<Incoming*>(user);
  Transfer& transfer = *incoming.transfer;
  const std::size_t bytes = size * count;
  transfer.received += bytes;
  if (transfer.received > transfer.post.most_bytes) {
    transfer.verdict = HttpOutcome::too_large;
    return CURL_WRITEFUNC_ERROR;
  }
  long status = 0;
  curl_easy_getinfo(incoming.easy, CURLINFO_RESPONSE_CODE, &status);
  transfer.head.status = static_cast<int>(status);
  switch (transfer.receiver(transfer.head, {data, bytes})) {
    case HttpTake::early:
      break;
    case HttpTake::more:
      transfer.last_byte_ns = now_ns();
      break;
    case HttpTake::last:
      if (!std::exchange(transfer.last, true)) {
        transfer.last_byte_ns = now_ns();
        transfer.stall_seconds = last_wait_seconds;
      }
      break;
    case HttpTake::end:
      transfer.verdict = HttpOutcome::ended;
      return CURL_WRITEFUNC_ERROR;
  }
  return bytes;
}

// Of a code that libcurl gave for a transfer we did not end.
HttpOutcome outcome_of(CURLcode code, bool connected) {
  switch (code) {
    case CURLE_OK:
      return HttpOutcome::finished;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return HttpOutcome::no_host;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return HttpOutcome::no_connection;
    case CURLE_OPERATION_TIMEDOUT:
      return connected ? HttpOutcome::timed_out : HttpOutcome::no_connection;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_SSL_CIPHER:
      return HttpOutcome::no_trust;
    case CURLE_UNSUPPORTED_PROTOCOL:  // "HTTP/0.9": no line of status came
    case CURLE_WEIRD_SERVER_REPLY:
      return HttpOutcome::no_http;
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return HttpOutcome::cut;
    default:
      return HttpOutcome::failed;
  }
}

void start_libcurl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

long milliseconds(double seconds) {
  constexpr double most = 1e9;
  return static_cast<long>(std::clamp(seconds * 1000, 1.0, most));
}

// libcurl itself knows only the certificates it was built with; its program looks here as well.
const char* certificates() {
  for (const char* const name : {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const char* const file = std::getenv(name);
    if (file != nullptr && *file != '\0') {
      return file;
    }
  }
  return nullptr;
}

// `headers` must live as long as the transfer.
void set_request(CURL* easy, const HttpPost& post, const List& headers) {
  curl_easy_setopt(easy, CURLOPT_URL, post.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_POST, 1L);
  curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post.body.data());
  curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "kernelpro/" KERNELPRO_VERSION);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");  // unpacked, though it is not asked for
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, connect_timeout_ms);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(post.timeout_seconds));
  if (const char* const file = certificates()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, file);
  }
  if (is_loopback_url(post.url)) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  }
}

List header_list(const HttpPost& post) {
  curl_slist* list = nullptr;
  const auto append = [&list](const char* line) {
    curl_slist* const longer = curl_slist_append(list, line);
    list = longer != nullptr ? longer : list;
  };
  for (const std::string& header : post.headers) {
    append(header.c_str());
  }
  append("Expect:");                    // no waiting for "100 Continue" before a long body
  append("Accept-Encoding: identity");  // what packs a stream tends to hold it back
  return List(list);
}

// The result of the one transfer in `multi`; nothing while it runs.
CURLcode finished_code(CURLM* multi) {
  int left = 0;
  while (const CURLMsg* const message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) {
      return message->data.result;
    }
  }
  return CURLE_RECV_ERROR;
}

double seconds_since(std::int64_t ns) {
  return static_cast<double>(now_ns() - ns) / 1e9;
}

// Whether it is time to end it ourselves; the verdict says why.
bool must_end(Transfer& transfer, const std::stop_token& stop) {
  if (stop.stop_requested()) {
    transfer.verdict = HttpOutcome::stopped;
  } else if (transfer.last_byte_ns != 0 &&
             seconds_since(transfer.last_byte_ns) >= transfer.stall_seconds) {
    transfer.verdict = HttpOutcome::stalled;
  }
  return transfer.verdict != HttpOutcome::finished;
}

int poll_ms(const Transfer& transfer) {
  if (transfer.last_byte_ns == 0) {
    return longest_poll_ms;
  }
  const double left = transfer.stall_seconds - seconds_since(transfer.last_byte_ns);
  return static_cast<int>(std::clamp(left * 1000 + 1, 1.0, double{longest_poll_ms}));
}

// Until it is finished or we end it.
CURLcode drive(CURLM* multi, Transfer& transfer, const std::stop_token& stop) {
  const std::stop_callback wake(stop, [multi] { curl_multi_wakeup(multi); });
  while (true) {
    int running = 0;
    if (curl_multi_perform(multi, &running) != CURLM_OK) {
      return CURLE_FAILED_INIT;
    }
    if (running == 0) {
      return finished_code(multi);
    }
    if (must_end(transfer, stop)) {
      return CURLE_ABORTED_BY_CALLBACK;
    }
    curl_multi_poll(multi, nullptr, 0, poll_ms(transfer), nullptr);
  }
}

HttpEnd end_of(CURL* easy, CURLcode code, Transfer& transfer, const char* words) {
  curl_off_t uploaded = 0;
  curl_off_t connected = 0;
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded);
  curl_easy_getinfo(easy, CURLINFO_PRETRANSFER_TIME_T, &connected);
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  HttpEnd end;
  end.outcome = transfer.verdict != HttpOutcome::finished ? transfer.verdict
                                                          : outcome_of(code, connected > 0);
  if (end.outcome == HttpOutcome::finished && !transfer.head_ended) {
    end.outcome = HttpOutcome::cut;  // libcurl takes half a head for a whole answer
  }
  end.head = std::move(transfer.head);
  end.head.status = static_cast<int>(status);
  end.detail = *words != '\0' ? words : curl_easy_strerror(code);
  end.sent = connected > 0 && uploaded >= static_cast<curl_off_t>(transfer.post.body.size());
  return end;
}

}  // namespace

struct HttpClient::Pool {
  std::mutex mutex;
  std::vector<CurlHandles> idle;

  CurlHandles take() {
    {
      const std::scoped_lock lock(mutex);
      if (!idle.empty()) {
        CurlHandles handles = std::move(idle.back());
        idle.pop_back();
        return handles;
      }
    }
    return {CurlMulti(curl_multi_init()), CurlEasy(curl_easy_init())};
  }

  void give_back(CurlHandles handles) {
    curl_easy_reset(handles.easy.get());
    const std::scoped_lock lock(mutex);
    idle.push_back(std::move(handles));
  }
};

HttpClient::HttpClient() : pool_(std::make_unique<Pool>()) {
  start_libcurl();
}

HttpClient::~HttpClient() = default;

HttpEnd HttpClient::post(const HttpPost& post, const HttpReceiver& receiver, std::stop_token stop) {
  CurlHandles handles = pool_->take();
  CURL* const easy = handles.easy.get();
  CURLM* const multi = handles.multi.get();
  if (easy == nullptr || multi == nullptr) {
    return {HttpOutcome::failed, {}, "libcurl could not be started", false};
  }
  Transfer transfer(post, receiver);
  Incoming incoming{&transfer, easy};
  std::array<char, CURL_ERROR_SIZE> words{};
  const List headers = header_list(post);
  set_request(easy, post, headers);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, words.data());
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &incoming);
  curl_multi_add_handle(multi, easy);
  const CURLcode code = drive(multi, transfer, stop);
  HttpEnd end = end_of(easy, code, transfer, words.data());
  curl_multi_remove_handle(multi, easy);
  if (end.outcome == HttpOutcome::finished) {
    pool_->give_back(std::move(handles));
  }
  return end;
}

}  // namespace kernelpro
