// Runs agents whose models wish for nothing but one tool call each, all at once, and
// prints what became of each. The argument is the path of a JSON list of cases.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { generateText, isStepCount, jsonSchema, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { httpPolicyClient, opaPolicy, wasmPolicyClient, wrapMcpTools } from '@ai-sdk/policy-opa';
import { bailiff } from './bailiff.mjs';

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const says = part => ({ content: [part], finishReason: { unified: part.type === 'text' ? 'stop' : 'tool-calls' }, usage, warnings: [] });
const done = says({ type: 'text', text: 'done' });

// The ways to have the calls judged: by the example, or by the package alone.
const ways = {
  example: (c, tools, { judge }) => judge(tools),
  package: (c, tools) => ({ ...wrapMcpTools(tools, by(remote(c)), { default: 'denied' }), runtimeContext: c.context }),
  bare: (c, tools) => ({ tools, toolApproval: by(remote(c)), runtimeContext: c.context }),
  wasm: async (c, tools) => ({ tools, toolApproval: by(await compiled(c)), runtimeContext: c.context }),
};
// once gives a call up when a file is there.
const once = path => {
  const giving = new AbortController();
  const watch = setInterval(() => { if (existsSync(path)) { clearInterval(watch); giving.abort(); } }, 10);
  return giving.signal;
};
const by = client => opaPolicy({ client, path: 'agent/call/decision' });
const remote = ({ url, token }) => httpPolicyClient({ url, headers: { Authorization: `Bearer ${token}` } });
const compiled = ({ wasm, data }) => wasmPolicyClient({ wasm: readFileSync(wasm), data: JSON.parse(readFileSync(data, 'utf8')) });

async function run(c) {
  const made = bailiff(c);
  const marks = tool({
    inputSchema: jsonSchema({ type: 'object' }),
    execute: () => { writeFileSync(c.marker, 'ran'); return 'ran'; },
  });
  const settings = {
    ...await ways[c.way](c, { [c.tool]: c.tool === 'terminal' ? made.terminal : marks }, made),
    stopWhen: isStepCount(3), maxRetries: 0, abortSignal: c.cancelled && once(c.cancelled),
  };
  const call = says({ type: 'tool-call', toolCallId: 'call-1', toolName: c.tool, input: JSON.stringify(c.input) });
  const messages = [{ role: 'user', content: 'go' }];
  const first = await generateText({ ...settings, model: new MockLanguageModelV4({ doGenerate: [call, done] }), messages });
  const parts = first.steps.flatMap(step => step.content);
  const asked = parts.filter(part => part.type === 'tool-approval-request' && !part.isAutomatic);
  if (asked.length > 0 && 'approve' in c) {
    const answers = asked.map(({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: c.approve }));
    const second = await generateText({
      ...settings, model: new MockLanguageModelV4({ doGenerate: [done] }),
      messages: [...messages, ...first.response.messages, { role: 'tool', content: answers }],
    });
    parts.push(...second.steps.flatMap(step => step.content));
  }
  return {
    asked: asked.map(part => part.reason ?? ''),
    denied: parts.filter(part => part.type === 'tool-approval-response' && !part.approved).map(part => part.reason ?? ''),
    results: parts.filter(part => part.type === 'tool-result').map(part => part.output),
    errors: parts.filter(part => part.type === 'tool-error').map(part => String(part.error)),
  };
}

// What the package leaves behind where an answer is no JSON.
process.on('unhandledRejection', () => {});

// The package sets itself no time limit.
const late = c => new Promise((_, reject) => { setTimeout(() => reject(new Error('late')), c.patience); });

const cases = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const ends = await Promise.all(cases.map(c => Promise.race([run(c), late(c)]).catch(error => ({ failed: String(error) }))));
process.stdout.write(JSON.stringify(ends), () => process.exit(0)); // whatever is still waited for
