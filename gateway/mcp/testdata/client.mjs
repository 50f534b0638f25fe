// A client by the official TypeScript library. It is told by its argument how to
// connect, and by lines of its standard input what to do; each line that it prints
// is one thing that it learnt.
import { createInterface } from "node:readline";

const how = JSON.parse(process.argv[2]);
const say = (news) => console.log(JSON.stringify(news));

const library = how.library === "1" ? await first() : await second();
const client = library.client;
client.onerror = () => {}; // of a connection that is cut: the call says so too
library.onElicit(async ({ params }) => {
  say({ shown: params.url, by: params.mode });
  return { action: how.action };
});
const transport = how.url
  ? new library.HTTP(new URL(how.url), { requestInit: { headers: { Authorization: `Bearer ${how.token}` } } })
  : new library.Stdio({ command: how.command[0], args: how.command.slice(1), stderr: "inherit" });
await client.connect(transport);
say({ connected: library.version() });

let running;
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  if (order.list) say({ tools: (await client.listTools()).tools.map((tool) => tool.name).sort() });
  if (order.cancel) running.abort("enough");
  if (order.call) call(order.call);
}
if (how.url && transport.terminateSession) await transport.terminateSession();
await client.close();

async function call(params) {
  running = new AbortController();
  const options = { signal: running.signal, timeout: 60_000, onprogress: ({ message }) => say({ progress: message }) };
  try {
    say({ result: await library.call(params, options) });
  } catch (error) {
    say({ thrown: String(error) });
  }
}

async function first() {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const { ElicitRequestSchema } = await import("@modelcontextprotocol/sdk/types.js");
  const client = new Client({ name: "test", version: "1" }, { capabilities: capabilities() });
  return {
    client, Stdio: StdioClientTransport, HTTP: StreamableHTTPClientTransport,
    onElicit: (answer) => how.action && client.setRequestHandler(ElicitRequestSchema, answer),
    call: (params, options) => client.callTool(params, undefined, options),
    version: () => transport.protocolVersion ?? "",
  };
}

async function second() {
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "test", version: "1" }, { capabilities: capabilities(), versionNegotiation: { mode: how.mode ?? { pin: "2026-07-28" } } });
  return {
    client, Stdio: StdioClientTransport, HTTP: StreamableHTTPClientTransport,
    onElicit: (answer) => how.action && client.setRequestHandler("elicitation/create", answer),
    call: (params, options) => client.callTool(params, options),
    version: () => client.getNegotiatedProtocolVersion(),
  };
}

function capabilities() {
  return how.action ? { elicitation: { url: {} } } : {};
}
