// Does with Vercel's own client all that the backend does by itself, and some more, and
// prints what came of it. Whatever the client does not take for an answer of Vercel's
// ends it. Arguments: the client's folder, the endpoint, the token, the team, the project.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, endpoint, token, teamId, projectId] = process.argv.slice(2);
const entry = createRequire(folder + "/").resolve("@vercel/sandbox");
const { Sandbox, Drive } = await import(pathToFileURL(entry));

// The client looks for the end of an answer by itself.
const fetch = (url, { dispatcher, ...options }) => globalThis.fetch(url.replace("https://vercel.com/api", endpoint), options);
const account = { token, teamId, projectId, fetch };
const say = (what, value) => console.log(what + ": " + JSON.stringify(value));

const drive = await Drive.getOrCreate({ ...account, name: "bailiff-drive", region: "iad1", maxSize: 1 << 30 });
say("drive", [drive.name, drive.maxSize, drive.currentSessionId ?? null]);
const sandbox = await Sandbox.create({
	...account, name: "by-its-own-client", timeout: 300_000, resources: { vcpus: 1 }, image: "vercel/sandbox/universal:latest",
	networkPolicy: "deny-all", tags: { bailiff: "sandbox" }, mounts: { "/workspace": drive }, region: "iad1", persistent: false,
});
say("made", [sandbox.name, sandbox.persistent, sandbox.vcpus, sandbox.memory, sandbox.networkPolicy, sandbox.tags, sandbox.image.split("@")[0]]);
say("mounts", sandbox.mounts);
await sandbox.writeFiles([{ path: "/tmp/folder/file", content: "written", mode: 0o640 }]);
say("read", (await sandbox.readFileToBuffer({ path: "/tmp/folder/file" })).toString());
say("missing", await sandbox.readFileToBuffer({ path: "/tmp/none" }));
await sandbox.mkDir("made");

const shell = (script, more) => sandbox.runCommand({ cmd: "/bin/sh", args: ["-c", script], cwd: "/", ...more });
const seen = await shell("id -u; stat -c '%u %a' /tmp/folder/file; ls -d /home/default/made; echo $GIVEN; echo aside >&2; exit 3", { env: { GIVEN: "a value" } });
say("command", [seen.exitCode, await seen.stdout(), await seen.stderr()]);
say("sudo", await (await shell("id -u; echo $HOME", { sudo: true })).stdout());
const bytes = await shell("printf 'a\\377b'");
say("text", [...(await bytes.stdout())].map((c) => c.codePointAt(0)));
const background = await shell("echo one; sleep 0.1; echo two", { detached: true });
let log = "";
for await (const line of background.logs()) log += line.stream + " " + line.data;
say("log", log.replaceAll("\n", "/"));
say("waited", (await background.wait()).exitCode);
const endless = await shell("echo started; exec sleep 1000", { detached: true });
for await (const line of endless.logs()) {
	say("endless", line.data);
	break;
}
await endless.kill("SIGKILL");
say("killed", (await endless.wait()).exitCode);
const before = sandbox.timeout;
await sandbox.extendTimeout(60_000);
say("extended", sandbox.currentSession().timeout - before);
const found = await Sandbox.list({ ...account, limit: 50, sortBy: "name", namePrefix: "by-its-" });
say("listed", found.sandboxes.map((s) => [s.name, s.status]));
say("attached", (await Drive.list({ ...account, sortBy: "name", namePrefix: "bailiff-" })).drives.map((d) => [d.name, d.currentSandboxName]));
say("got", (await Sandbox.get({ ...account, name: sandbox.name, resume: false })).status);
const stopped = await sandbox.stop();
say("stopped", [stopped.status, (await Sandbox.get({ ...account, name: sandbox.name, resume: false })).status]);
try {
	await sandbox.currentSession().runCommand("true");
} catch (fault) {
	say("after the end", fault.response.status);
}
await sandbox.delete();
say("left", (await Sandbox.list(account)).sandboxes.length);
await drive.delete();
say("drives left", (await Drive.list(account)).drives.length);
