// All that a client by the official TypeScript library can do with the server "everything", started by the command in its argument.
// It prints what it learnt as one object, which is the same whatever stands between them; with another argument, the tools only.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

const command = JSON.parse(process.argv[2]);
const learnt = { asked: [] };
const client = new Client({ name: "features", version: "1" },
  { capabilities: { sampling: {}, elicitation: { form: {}, url: {} }, roots: { listChanged: true } } });
client.setRequestHandler(types.CreateMessageRequestSchema, ({ params }) => {
  learnt.asked.push(["sampling", params.messages, params.maxTokens]);
  return { role: "assistant", model: "none", content: { type: "text", text: "a model says" } };
});
client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => {
  learnt.asked.push(["elicitation", params.mode ?? "form", params.message, params.requestedSchema]);
  return { action: "accept", content: { name: "Ana", check: true, email: "ana@example.com" } };
});
let roots = [{ uri: "file:///srv/first", name: "first" }];
client.setRequestHandler(types.ListRootsRequestSchema, () => ({ roots }));
const noticed = {};
const notice = (name, schema) => new Promise((seen) => client.setNotificationHandler(schema, ({ params }) => {
  noticed[name] = params;
  seen(params);
}));
const updated = notice("updated", types.ResourceUpdatedNotificationSchema);
const logged = notice("logged", types.LoggingMessageNotificationSchema);

await client.connect(new StdioClientTransport({ command: command[0], args: command.slice(1), stderr: "inherit" }));
if (process.argv[3]) {
  console.log(JSON.stringify((await client.listTools()).tools.map(({ name }) => name)));
  await client.close();
  process.exit();
}
const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options);
const told = async (name, what) => {
  try {
    learnt[name] = await what();
  } catch (error) {
    learnt[name] = `${error.name} ${error.code}`;
  }
};

await told("server", () => [client.getServerVersion(), client.getInstructions()]);
await told("ping", () => client.ping());
await told("tools", async () => (await client.listTools()).tools.map(({ name, inputSchema }) => [name, inputSchema]));
await told("echo", () => call("echo", { message: "héllo\u2028\n" }));
await told("sum", () => call("get-sum", { a: 2, b: 3 }));
await told("unfit", async () => (await call("get-sum", { a: "two" })).isError);
await told("unknown", async () => (await call("no-such-tool")).isError);
await told("structure", () => call("get-structured-content", { location: "Chicago" }));
await told("image", () => call("get-tiny-image"));
await told("annotated", () => call("get-annotated-message", { messageType: "error", includeImage: true }));
await told("links", () => call("get-resource-links", { count: 2 }));
await told("reference", () => call("get-resource-reference", { resourceType: "Text", resourceId: 1 })
  .then(({ content }) => content.map(({ type, resource }) => [type, resource?.uri])));
const steps = [];
await told("progress", () => call("trigger-long-running-operation", { duration: 1, steps: 4 },
  { onprogress: ({ progress, total }) => progress < total && steps.push([progress, total]) })); // the last one may come with the answer
learnt.steps = steps;
await told("cancelled", async () => {
  const giving = new AbortController();
  await call("trigger-long-running-operation", { duration: 600, steps: 600 },
    { signal: giving.signal, onprogress: () => giving.abort("enough") });
});
await told("after", () => call("echo", { message: "still there" }));
await told("sampling", () => call("trigger-sampling-request", { prompt: "say it", maxTokens: 7 }));
await told("elicitation", () => call("trigger-elicitation-request"));
await told("roots", () => call("get-roots-list"));
roots = [{ uri: "file:///srv/second", name: "second" }];
await client.sendRootsListChanged();
await told("changed roots", async () => {
  for (;;) {
    const answer = await call("get-roots-list");
    if (JSON.stringify(answer).includes("srv/second")) return answer;
  }
});
await told("resources", async () => (await client.listResources()).resources);
await told("templates", () => client.listResourceTemplates());
await told("resource", async () => (await client.readResource({ uri: "demo://resource/dynamic/text/1" })).contents.map(({ uri }) => uri));
await told("no resource", () => client.readResource({ uri: "demo://none" }));
await told("prompts", () => client.listPrompts());
await told("prompt", () => client.getPrompt({ name: "args-prompt", arguments: { city: "Oslo", state: "NO" } }));
await told("no prompt", () => client.getPrompt({ name: "none" }));
await told("completion", () => client.complete({ ref: { type: "ref/prompt", name: "completable-prompt" },
  argument: { name: "department", value: "S" } }));
await told("level", () => client.setLoggingLevel("debug"));
await told("subscription", () => client.subscribeResource({ uri: "demo://resource/dynamic/text/1" }));
await told("updates", async () => (await call("toggle-subscriber-updates")).isError ?? false);
await told("update", () => updated);
await told("end of subscription", () => client.unsubscribeResource({ uri: "demo://resource/dynamic/text/1" }));
await told("logs", async () => (await call("toggle-simulated-logging")).isError ?? false);
await told("log", async () => Object.keys(await logged));
await client.close();
console.log(JSON.stringify(learnt));
