// The official clients of both providers against the server of tests/support/llm_server: what they
// take for the real thing, our own clients may be tested with.
//
//   node clients.mjs URL KEY
//
// Run it where both packages are installed. It prints each check, and ends with 1 at the first that
// fails.
import assert from 'node:assert/strict';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

const [url, key] = process.argv.slice(2);
const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 });

async function check(name, body) {
  try {
    await body();
    console.log(`ok ${name}`);
  } catch (error) {
    console.log(`FAILED ${name}: ${error.stack}`);
    process.exit(1);
  }
}

async function collect(stream) {
  const parts = [];
  for await (const part of stream) {
    parts.push(part);
  }
  return parts;
}

const model = 'some-model';
const hello = [{ role: 'user', content: 'hello there' }];
const useTool = [{ role: 'user', content: 'please use the tool' }];
const schema = { type: 'object', properties: { text: { type: 'string' } } };

const openaiTools = [
  { type: 'function', function: { name: 'look', description: 'Looks.', parameters: schema } },
];
const chat = (body, client = openai) => client.chat.completions.create({ model, ...body });

await check('openai: plain', async () => {
  const answer = await chat({ messages: [{ role: 'system', content: 'Be short.' }, ...hello] });
  assert.equal(answer.choices[0].message.content, 'You said: hello there');
  assert.equal(answer.choices[0].finish_reason, 'stop');
  assert.deepEqual(
    [answer.usage.prompt_tokens, answer.usage.completion_tokens, answer.usage.total_tokens],
    [4, 4, 8],
  );
});

await check('openai: streamed, with usage', async () => {
  const parts = await collect(
    await chat({ messages: hello, stream: true, stream_options: { include_usage: true } }),
  );
  const text = parts.map((part) => part.choices[0]?.delta?.content ?? '').join('');
  assert.equal(text, 'You said: hello there');
  assert.equal(parts.at(-1).usage.completion_tokens, 4);
  assert.ok(parts.some((part) => part.choices[0]?.finish_reason === 'stop'));
});

await check('openai: streamed without usage', async () => {
  const parts = await collect(await chat({ messages: hello, stream: true }));
  assert.ok(parts.every((part) => !part.usage));
});

await check('openai: a tool, and its result', async () => {
  const asked = await chat({ messages: useTool, tools: openaiTools });
  const { message, finish_reason: reason } = asked.choices[0];
  assert.equal(reason, 'tool_calls');
  assert.equal(message.tool_calls[0].function.name, 'look');
  assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), {
    text: 'please use the tool',
  });
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'green' };
  const answer = await chat({ messages: [...useTool, message, result], tools: openaiTools });
  assert.equal(answer.choices[0].message.content, 'The tool said: green');
});

await check('openai: a streamed tool, put together by the client', async () => {
  const runner = openai.chat.completions.stream({ model, messages: useTool, tools: openaiTools });
  const message = await runner.finalMessage();
  assert.deepEqual(JSON.parse(message.tool_calls[0].function.arguments), {
    text: 'please use the tool',
  });
});

await check('openai: limits and stop texts', async () => {
  const cut = await chat({ messages: hello, max_completion_tokens: 2 });
  assert.equal(cut.choices[0].finish_reason, 'length');
  assert.equal(cut.choices[0].message.content, 'You said: ');
  const stopped = await chat({ messages: hello, stop: ['there'] });
  assert.equal(stopped.choices[0].message.content, 'You said: hello ');
});

await check('openai: errors are of the right classes', async () => {
  const wrong = new OpenAI({ apiKey: 'another', baseURL: `${url}/v1`, maxRetries: 0 });
  await assert.rejects(chat({ messages: hello }, wrong), OpenAI.AuthenticationError);
  await assert.rejects(chat({ messages: hello, model: 'no-such-model' }), OpenAI.NotFoundError);
  await assert.rejects(chat({ messages: hello, model: 'limited-model' }), (error) => {
    assert.ok(error instanceof OpenAI.RateLimitError);
    assert.equal(error.headers.get('retry-after'), '1');
    return true;
  });
  await assert.rejects(chat({ messages: hello, model: 'broke-model' }), {
    code: 'insufficient_quota',
  });
  await assert.rejects(chat({ messages: hello, model: 'failing-model' }), OpenAI.InternalServerError);
});

await check('openai: what the API refuses is refused', async () => {
  const refused = (body, message) =>
    assert.rejects(chat(body), (error) => {
      assert.ok(error instanceof OpenAI.BadRequestError, `${error}`);
      assert.match(error.message, message);
      return true;
    });
  await refused({ messages: [] }, /too short/);
  await refused({ messages: [{ role: 'wizard', content: 'x' }] }, /Invalid value: 'wizard'/);
  await refused({ messages: [...hello, { role: 'tool', tool_call_id: 'a', content: 'x' }] },
    /must be a response to a preceeding message/);
  const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }];
  await refused({ messages: [...hello, { role: 'assistant', content: null, tool_calls: calls }] },
    /must be followed by tool messages/);
  await refused({ messages: hello, max_tokens: 1, max_completion_tokens: 1 }, /at the same time/);
  await refused({ messages: hello, stream_options: { include_usage: true } }, /only allowed when/);
  await refused({ messages: hello, temperature: 3 }, /temperature/);
  await refused({ messages: hello, magic: true }, /magic/);
});

await check('openai: its own retries get through to the error', async () => {
  const patient = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 1 });
  await assert.rejects(chat({ messages: hello, model: 'limited-model' }, patient),
    OpenAI.RateLimitError);
});

const anthropicTools = [{ name: 'look', description: 'Looks.', input_schema: schema }];
const ask = (body, client = anthropic) =>
  client.messages.create({ model, max_tokens: 100, ...body });

await check('anthropic: plain', async () => {
  const answer = await ask({ system: 'Be short.', messages: hello });
  assert.deepEqual(answer.content, [{ type: 'text', text: 'You said: hello there' }]);
  assert.equal(answer.stop_reason, 'end_turn');
  assert.equal(answer.usage.input_tokens, 4);
  assert.equal(answer.usage.output_tokens, 4);
});

await check('anthropic: streamed, put together by the client', async () => {
  const stream = anthropic.messages.stream({ model, max_tokens: 100, messages: hello });
  let text = '';
  stream.on('text', (piece) => { text += piece; });
  const message = await stream.finalMessage();
  assert.equal(text, 'You said: hello there');
  assert.equal(message.content[0].text, text);
  assert.equal(message.usage.output_tokens, 4);
});

await check('anthropic: a tool, and its result', async () => {
  const asked = await ask({ messages: useTool, tools: anthropicTools });
  assert.equal(asked.stop_reason, 'tool_use');
  const call = asked.content.find((block) => block.type === 'tool_use');
  assert.deepEqual(call.input, { text: 'please use the tool' });
  const result = { type: 'tool_result', tool_use_id: call.id, content: 'green' };
  const answer = await ask({
    messages: [...useTool, { role: 'assistant', content: asked.content },
      { role: 'user', content: [result] }],
    tools: anthropicTools,
  });
  assert.equal(answer.content[0].text, 'The tool said: green');
});

await check('anthropic: a streamed tool', async () => {
  const stream = anthropic.messages.stream({
    model, max_tokens: 100, messages: useTool, tools: anthropicTools,
  });
  const message = await stream.finalMessage();
  const call = message.content.find((block) => block.type === 'tool_use');
  assert.deepEqual(call.input, { text: 'please use the tool' });
});

await check('anthropic: limits, stop texts, refusals', async () => {
  assert.equal((await ask({ messages: hello, max_tokens: 2 })).stop_reason, 'max_tokens');
  const stopped = await ask({ messages: hello, stop_sequences: ['there'] });
  assert.deepEqual([stopped.stop_reason, stopped.stop_sequence], ['stop_sequence', 'there']);
  const refused = await ask({ messages: [{ role: 'user', content: 'refuse this' }] });
  assert.equal(refused.stop_reason, 'refusal');
});

await check('anthropic: the cache is written, then read', async () => {
  const system = [{ type: 'text', text: `once ${Date.now()} more`, cache_control: { type: 'ephemeral' } }];
  const first = await ask({ system, messages: hello });
  assert.deepEqual(
    [first.usage.cache_creation_input_tokens, first.usage.cache_read_input_tokens], [3, 0]);
  const second = await ask({ system, messages: hello });
  assert.deepEqual(
    [second.usage.cache_creation_input_tokens, second.usage.cache_read_input_tokens], [0, 3]);
});

await check('anthropic: errors are of the right classes', async () => {
  const wrong = new Anthropic({ apiKey: 'another', baseURL: url, maxRetries: 0 });
  await assert.rejects(ask({ messages: hello }, wrong), Anthropic.AuthenticationError);
  await assert.rejects(ask({ messages: hello, model: 'no-such-model' }), Anthropic.NotFoundError);
  await assert.rejects(ask({ messages: hello, model: 'limited-model' }), Anthropic.RateLimitError);
  await assert.rejects(ask({ messages: hello, model: 'overloaded-model' }), (error) => {
    assert.equal(error.status, 529);
    assert.equal(error.error.error.type, 'overloaded_error');
    return true;
  });
});

await check('anthropic: what the API refuses is refused', async () => {
  const refused = (body, message) =>
    assert.rejects(ask(body), (error) => {
      assert.ok(error instanceof Anthropic.BadRequestError, `${error}`);
      assert.match(error.message, message);
      return true;
    });
  await refused({ messages: hello, max_tokens: undefined }, /max_tokens/);
  await refused({ messages: [] }, /at least one message/);
  await refused({ messages: [{ role: 'system', content: 'x' }] }, /Unexpected role/);
  await refused({ messages: [{ role: 'user', content: '' }] }, /non-empty/);
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'x' };
  await refused({ messages: [{ role: 'user', content: [result] }] }, /unexpected tool_use_id/i);
  const call = { type: 'tool_use', id: 'a', name: 'look', input: {} };
  await refused({ messages: [...hello, { role: 'assistant', content: [call] }, ...hello] },
    /without tool_result/);
  await refused({ messages: hello, temperature: 1.5 }, /temperature/);
  await refused({ messages: hello, magic: true }, /magic/);
});
