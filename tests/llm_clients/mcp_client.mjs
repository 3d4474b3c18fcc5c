// The official client of the Model Context Protocol speaks both revisions with `kernelpro mcp`. It holds every
// structured answer against the tool's schema by itself.
import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [program, store] = process.argv.slice(2);

const source = `// kp:options -O3
#include <cstdint>
#include "kernelpro/candidate.h"
int kp_launch(const kp_context* context, const kp_tensor* tensors, int32_t) {
  const float alpha = static_cast<float>(context->scalars[0]);
  const float* x = static_cast<const float*>(tensors[0].data);
  const float* y = static_cast<const float*>(tensors[1].data);
  float* out = static_cast<float*>(tensors[2].data);
  for (int64_t i = 0; i < context->axes[0]; ++i) out[i] = alpha * x[i] WRONG y[i];
  return 0;
}
`;

async function talk(mode, version) {
  const client = new Client({ name: "peer", version: "1" }, { versionNegotiation: { mode } });
  await client.connect(new StdioClientTransport(
    { command: program, args: ["mcp", "--store", store], env: { ...process.env } }));
  assert.equal(client.getNegotiatedProtocolVersion(), version);

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["list_tasks", "make_task", "evaluate", "diagnose", "start_run",
    "next_proposal", "submit", "show", "code_search", "export", "job"]);
  const { structuredContent: listed } = await client.callTool({ name: "list_tasks", arguments: { query: "axpy" } });
  assert.equal(listed.tasks[0].name, "axpy");

  const told = [];
  const judged = await client.callTool(
    { name: "evaluate", arguments: { task: "axpy", mode: "check",
      sources: [source.replace("WRONG", "+"), source.replace("WRONG", "-")] } },
    { timeout: 300_000, onprogress: (progress) => told.push(progress.message) });
  let verdicts = judged.structuredContent;
  while (verdicts.job) {
    const asked = await client.callTool({ name: "job", arguments: { id: verdicts.job, wait: 45 } });
    verdicts = asked.structuredContent.state === "working" ? verdicts : asked.structuredContent.result;
  }
  assert.deepEqual(verdicts.verdicts.map((one) => one.outcome), ["passed", "incorrect"]);
  assert.ok(told.length > 0);

  const { contents } = await client.readResource({ uri: "kernelpro://contract/cpu" });
  assert.match(contents[0].text, /kp_launch/);
  const { prompts } = await client.listPrompts();
  assert.equal(prompts.length, 3);
  const prompt = await client.getPrompt({ name: "why_slow", arguments: { task: "axpy", source: "naive" } });
  assert.match(prompt.messages[0].content.text, /naive of the task axpy/);
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }));
  const wrong = await client.callTool({ name: "evaluate", arguments: { task: "axpy", sources: [] } });
  assert.ok(wrong.isError);
  await client.close();
}

await talk("legacy", "2025-11-25");
await talk({ pin: "2026-07-28" }, "2026-07-28");
console.log("both revisions are spoken");
