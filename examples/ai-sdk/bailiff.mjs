// Has bailiff judge, and where it can run, what an agent of the AI SDK calls.
//
//   const { terminal, judge } = bailiff({ url, token, session });
//   await generateText({ model, prompt, ...judge({ terminal, bash }) });
//
// @ai-sdk/policy-opa asks bailiff about every tool call. The tool terminal hands its
// command to bailiff, which runs it in the session's sandbox; any other tool runs where
// this agent does.

import { opaPolicy, wrapMcpTools } from '@ai-sdk/policy-opa';
import { jsonSchema, tool } from 'ai';

// session says for whom the agent acts: {id, platform, user_id, …}, as in
// POST /v1/execute. free are tools that run nothing: they are not judged.
export function bailiff({ url, token, session, env = [], free = [], timeout = 10_000 }) {
  const ask = (path, body, signal) => post(`${url}/v1/${path}`, token, body, signal);
  const policy = opaPolicy({
    path: 'agent/call/decision',
    client: { evaluate: (path, input) => verdict(ask(`data/${path}`, { input }, AbortSignal.timeout(timeout))) },
    // Without the messages, which may be long and decide nothing.
    toInput: ({ toolCall }) => ({
      tool: { name: toolCall.toolName },
      args: toolCall.input,
      runtimeContext: { bailiff: { session, env } },
    }),
  });
  const approval = call => (free.includes(call.toolCall.toolName) ? 'approved' : policy(call));
  return {
    // To the package no verdict is no objection: here it is a denial.
    judge: tools => wrapMcpTools(tools, approval, { default: 'denied' }),
    terminal: terminal((args, signal) =>
      follow(`${url}/v1/execute`, token, { tool: 'terminal', args, session, env, wait_seconds: 240 }, signal)),
  };
}

async function send(address, token, accept, body, signal) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, Accept: accept, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal,
  });
  if (response.ok) return response;
  const answer = await response.json();
  throw new Error(answer?.message ?? `bailiff answered ${response.status}`);
}

async function post(address, token, body, signal) {
  return (await send(address, token, 'application/json', body, signal)).json();
}

// A sidecar says every ten seconds that it lives, so one that is silent for longer is stuck.
const patience = 30_000;
const largestEvent = 64 << 20;

// Asks as an event stream, whose header comes at once: fetch gives up an answer that has
// none after 300 seconds.
async function follow(address, token, body, signal) {
  const silence = new AbortController();
  const stuck = () => silence.abort(new Error('bailiff was silent for 30 seconds; what became of the command is not known'));
  let watch = setTimeout(stuck, patience);
  try {
    const signals = signal ? [signal, silence.signal] : [silence.signal];
    const response = await send(address, token, 'text/event-stream', body, AbortSignal.any(signals));
    let rest = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      clearTimeout(watch);
      watch = setTimeout(stuck, patience);
      const events = (rest + piece).split('\n\n');
      rest = events.pop();
      if (rest.length > largestEvent) throw new Error('an event of bailiff is too large');
      const result = events.find(event => event.startsWith('event: result\n'));
      if (result) return JSON.parse(result.slice(result.indexOf('data: ') + 'data: '.length));
    }
  } finally {
    clearTimeout(watch);
  }
  throw new Error('bailiff did not say what became of the command');
}

async function verdict(asked) {
  const { result } = (await asked) ?? {};
  if (result == null) throw new Error('bailiff answered without a verdict');
  return result;
}

function terminal(execute) {
  return tool({
    description: "Run a shell command in this session's sandbox.",
    inputSchema: jsonSchema({
      type: 'object',
      properties: {
        command: { type: 'string' },
        workdir: { type: 'string', description: 'An absolute path; without it, where the last command ended.' },
        timeout: { type: 'integer', description: 'In seconds.' },
      },
      required: ['command'],
      additionalProperties: false,
    }),
    // Waits as long as people may take to approve it. Giving up ends the command.
    execute: async (args, { abortSignal }) => {
      const { status, exit_code, output, message, truncated, decision } = await execute(args, abortSignal);
      if (typeof status !== 'string') throw new Error('bailiff did not say what became of the command');
      const withheld = (decision?.env?.withheld ?? []).map(({ name, rule }) => `${name} (${rule})`);
      return { status, exit_code, output, message, ...(truncated && { truncated }), ...(withheld.length > 0 && { withheld }) };
    },
  });
}
