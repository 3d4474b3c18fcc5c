// llm-server [KEY [PORT]]: stands for both providers until its input ends. Its first line says
// where.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "support/llm_server/api.hpp"

int main(int count, char** arguments) {
  using namespace kernelpro::llm_server;
  const std::string key = count > 1 ? arguments[1] : "test-key";
  const HttpServer server(api_handler(key), count > 2 ? std::atoi(arguments[2]) : 0);
  std::printf("%s\n", server.url().c_str());
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}
