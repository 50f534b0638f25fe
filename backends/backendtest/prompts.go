package backendtest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/backends/runner"
)

// prompts asks in every way in which programs ask a user at their terminal:
// there is none, so each must end by itself, and without success.
func prompts(t *testing.T, b box) {
	for _, c := range []struct{ name, needs, script string }{
		{"the shell's read", "", "read -p 'name? ' name"},
		{"read from the terminal", "", "read name </dev/tty"},
		{"a confirmation", "", "cp -i /etc/passwd /etc/passwd </dev/null; rm -i /etc/passwd; read -n 1 -p '[y/N] ' yes"},
		{"input of Python", "", "python3 -c 'input(\"name? \")'"},
		{"a password for Python", "", "python3 -W ignore -c 'import getpass; getpass.getpass()'"},
		{"a shell that wants a terminal", "", "bash --norc -i; exit 1"},
		{"credentials for git", "git", server + "git clone -q http://127.0.0.1:$port/x"},
		{"a message for a commit", "git",
			"git init -q && git -c user.name=a -c user.email=a@b commit --allow-empty -q && git rebase -i HEAD"},
		{"a password for sudo", "sudo", "[[ $(id -u) != 0 ]] && sudo true"},
		{"a password for su", "su", "[[ $(id -u) != 0 ]] && su root -c true"},
		{"a new password", "passwd", "passwd"},
		{"whether to install", "apt-get", "apt-get install nothing-of-this-name"},
		{"a key's password for ssh", "ssh-keygen", "ssh-keygen -q -t ed25519 -N secret -f key && ssh-keygen -y -f key"},
		{"a password for ssh", "ssh", "ssh -o ConnectTimeout=1 -o StrictHostKeyChecking=ask nobody@127.0.0.1"},
		{"a pager", "less", "less /etc/passwd >/dev/null; exit 1"},
		{"a program for the whole screen", "top", "top"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := runner.Shell(fmt.Sprintf(emptyFolder, c.needs, lacking) + c.script)
			cmd.HeadBytes, cmd.Timeout, cmd.Reap = 1<<16, time.Minute, true
			switch exit, out := b.run(cmd); {
			case exit.Code == lacking:
				t.Skipf("SKIPPED WITHOUT THE PROGRAM: the sandbox has no %s", c.needs)
			case exit.TimedOut || exit.Code == 0:
				t.Errorf("ended as %+v: %s", exit, strings.TrimSpace(out))
			}
		})
	}
}

// lacking is the exit status where the program that asks is not there.
const lacking = 77

// emptyFolder is where a question is asked, if there is the program that asks.
const emptyFolder = `
for needed in %s; do command -v $needed >/dev/null || exit %d; done
folder=$(mktemp -d); trap 'rm -rf $folder' EXIT; cd $folder
`

// server starts one that wants credentials.
const server = `
coproc python3 -c '
import http.server
class Closed(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic realm=x")
        self.end_headers()
    def log_message(self, *_): pass
server = http.server.HTTPServer(("127.0.0.1", 0), Closed)
print(server.server_port, flush=True)
server.serve_forever()'
read -u ${COPROC[0]} port
export HOME=/nowhere
`
