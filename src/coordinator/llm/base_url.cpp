#include "coordinator/llm/base_url.hpp"

#include <curl/curl.h>

#include <memory>

#include "coordinator/llm/lower_case.hpp"

namespace kernelpro {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};

using Url = std::unique_ptr<CURLU, FreeUrl>;

// Null where `text` is no URL.
Url read_url(const std::string& text) {
  Url url(curl_url());
  if (url && curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    url.reset();
  }
  return url;
}

std::string url_part(const Url& url, CURLUPart which) {
  char* found = nullptr;
  if (curl_url_get(url.get(), which, &found, 0) != CURLUE_OK) {
    return {};
  }
  std::string copy(found);
  curl_free(found);
  return copy;
}

std::string host_of(const Url& url) {
  return lower_case(url_part(url, CURLUPART_HOST));
}

bool is_loopback_host(const std::string& host) {
  const bool number = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host.ends_with(".localhost") || host == "[::1]" ||
         (number && host.starts_with("127."));
}

std::string without_slashes(std::string text) {
  while (text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

Result<BaseUrl> parse_base_url(const std::string& text) {
  const Url url = read_url(text);
  const std::string scheme = url ? url_part(url, CURLUPART_SCHEME) : "";
  const std::string host = url ? host_of(url) : "";
  const bool web = scheme == "http" || scheme == "https";
  // The text itself is not shown: it may hold a secret.
  if (text.find_first_of("@?#") != std::string::npos) {
    return make_error(ErrorKind::bad_input,
                      "a base URL has no user, password, query or fragment in it, because it is "
                      "kept and shown; give a key by a file or the environment");
  }
  if (!web || host.empty()) {
    return make_error(ErrorKind::bad_input,
                      "expected http:// or https:// and a host, such as http://127.0.0.1:8000/v1",
                      "base URL " + text);
  }
  BaseUrl base;
  base.text = without_slashes(text);
  base.encrypted = scheme == "https";
  base.host = host;
  base.loopback = is_loopback_host(host);
  base.path = without_slashes(url_part(url, CURLUPART_PATH));
  return base;
}

bool is_loopback_url(const std::string& url) {
  const Url parsed = read_url(url);
  return parsed && is_loopback_host(host_of(parsed));
}

}  // namespace kernelpro
