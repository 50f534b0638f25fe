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
    terminal: terminal((args, signal) => ask('execute', { tool: 'terminal', args, session, env, wait_seconds: 240 }, signal)),
  };
}

async function post(address, token, body, signal) {
  const response = await fetch(address, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal,
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer?.message ?? `bailiff answered ${response.status}`);
  return answer;
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
      const { status, exit_code, output, message } = await execute(args, abortSignal);
      if (typeof status !== 'string') throw new Error('bailiff did not say what became of the command');
      return { status, exit_code, output, message };
    },
  });
}
