"""What bailiff-hook does for a command of Claude Code, as a script of that kind is usually written."""
import http.client
import json
import os
import shlex
import socket
import sys


class Listener(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(sys.argv[1])


call = json.load(sys.stdin)
session = {"id": "claude-code:" + call["session_id"], "platform": "cli", "chat_type": "dm", "user_id": str(os.getuid())}
command = call["tool_input"]["command"]
listener = Listener("bailiff", timeout=10)
listener.request("POST", "/v1/decide", json.dumps({"tool": "terminal", "args": {"command": command}, "session": session}))
answer = listener.getresponse()
decision = json.load(answer)["decision"]
if answer.status != 200 or decision["outcome"] not in ("allow", "ask"):
    print("denied", file=sys.stderr)
    sys.exit(2)
order = ["bailiff", "exec", "--listen", "unix://" + sys.argv[1], "--session", session["id"], "--", command]
output = {"hookEventName": "PreToolUse", "permissionDecision": decision["outcome"], "permissionDecisionReason": "allowed by the policies",
          "updatedInput": {"command": shlex.join(order)}}
print(json.dumps({"hookSpecificOutput": output}))
