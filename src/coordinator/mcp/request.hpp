// What a session knows of a request. For the files of this room only, of which each has the JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "coordinator/mcp/session.hpp"

namespace kernelpro::mcp {

struct Session::Request {
  nlohmann::json id;
  std::string method;
  nlohmann::json params;
  bool modern = false;  // of 2026-07-28, else of 2025-11-25
  bool tasks = false;   // a modern client that takes a task for an answer
  std::string client;
};

struct Session::Waiting {
  enum class For { tool, job_tool, task_result, resource };

  Request request;
  For kind = For::tool;
  std::string job;
  std::int64_t until_ns = 0;
  std::string told;     // of its progress
  double progress = 0;  // as it was told: it only grows
};

}  // namespace kernelpro::mcp
