// One POST to a provider. TLS is verified and proxies are taken from the environment, as curl does;
// a server on this machine is asked without a proxy. SSL_CERT_FILE names other certificates.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpro {

struct HttpPost {
  std::string url;
  std::vector<std::string> headers;  // "name: value"
  std::string body;
  double timeout_seconds = 600;  // for all of it
  // Without a byte, once the receiver says that the answer has begun. Before that a model may
  // think as long as the time-out lets it.
  double stall_seconds = 60;
  std::size_t most_bytes = std::size_t{64} << 20U;  // of the answer
};

struct HttpHead {
  int status = 0;            // 0: no answer came
  std::string content_type;  // in lower case, without parameters
  std::string retry_after;
  std::string location;
};

enum class HttpOutcome {
  finished,  // the whole answer came, whatever its status
  no_host,
  no_connection,
  no_trust,  // TLS
  no_http,   // something else answers there
  timed_out,
  stalled,
  cut,
  too_large,
  stopped,  // by the stop token
  ended,    // by the receiver
  failed,   // anything else: `detail`
};

struct HttpEnd {
  HttpOutcome outcome = HttpOutcome::failed;
  HttpHead head;
  std::string detail;  // in libcurl's words
  bool sent = false;   // the whole request was sent: the other side may work on it
};

enum class HttpTake {
  early,  // the answer has not begun
  more,
  last,  // there should be no more: the connection's end is not waited for longer than a moment
  end,
};

// Told of each piece of the answer as it arrives; from the thread that asked.
using HttpReceiver = std::function<HttpTake(const HttpHead&, std::string_view)>;

// Keeps connections for the next call. Safe to be used by several threads at once. Redirects are
// not followed: a key must not go where nobody sent it.
class HttpClient {
 public:
  HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  [[nodiscard]] HttpEnd post(const HttpPost& post, const HttpReceiver& receiver,
                             std::stop_token stop);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

}  // namespace kernelpro
