package main

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/internal/tests/apptest"
)

// language is a project in one, whose test fails until "-" is "+" in its first file.
type language struct {
	program, test string
	first         string
	files         map[string]string
	passes        string // a piece of what the test prints that passes
}

var languages = map[string]language{
	"python": {program: "python3", test: "python3 -m unittest -v", passes: "\nOK", first: "shop.py",
		files: map[string]string{"shop.py": "def add(a, b):\n    return a - b\n",
			"test_shop.py": "import shop, unittest\n\nclass T(unittest.TestCase):\n    def test_add(self):\n" +
				"        self.assertEqual(shop.add(2, 3), 5)\n"}},
	"node": {program: "npm", test: "npm test", passes: "# pass 1", first: "shop.js",
		files: map[string]string{"shop.js": "exports.add = (a, b) => a - b;\n",
			"package.json": `{"name": "shop", "version": "1.0.0", "scripts": {"test": "node --test --test-reporter=tap"}}`,
			"shop.test.js": "const test = require('node:test'), assert = require('node:assert');\n" +
				"test('add', () => assert.equal(require('./shop.js').add(2, 3), 5));\n"}},
	"go": {program: "go", test: "go test ./...", passes: "ok", first: "shop.go",
		files: map[string]string{"go.mod": "module x.test/shop\n\ngo 1.21\n",
			"shop.go": "package shop\n\nfunc Add(a, b int) int { return a - b }\n",
			"shop_test.go": "package shop\n\nimport \"testing\"\n\nfunc TestAdd(t *testing.T) {\n" +
				"\tif Add(2, 3) != 5 {\n\t\tt.Error()\n\t}\n}\n"}},
	"rust": {program: "cargo", test: "cargo test", passes: "1 passed", first: "src/lib.rs",
		files: map[string]string{"Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
			"src/lib.rs": "pub fn add(a: i32, b: i32) -> i32 {\n    a - b\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(2, 3), 5);\n}\n"}},
	"java": {program: "javac", test: "javac -d target Shop.java ShopTest.java && java -ea -cp target ShopTest", passes: "passed",
		first: "Shop.java", files: map[string]string{"Shop.java": "class Shop {\n    static int add(int a, int b) { return a - b; }\n}\n",
			"ShopTest.java": "class ShopTest {\n    public static void main(String[] args) {\n        assert Shop.add(2, 3) == 5;\n" +
				"        System.out.println(\"passed\");\n    }\n}\n"}},
}

// forge is a server of git by TLS that wants a token.
type forge struct {
	*httptest.Server
	root, token string
}

func serveForge(t *testing.T) *forge {
	t.Helper()
	f := &forge{root: t.TempDir(), token: "tok_VALUEVALUEVALUEVALUEVALUEVALUEVALU34"}
	path, err := exec.Command("git", "--exec-path").Output()
	backendtest.Must(t, err)
	repositories := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + f.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null"}}
	f.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, password, _ := r.BasicAuth(); password != f.token {
			w.Header().Set("WWW-Authenticate", `Basic realm="forge"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		repositories.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

// git is what a command of git says beside the repositories.
func (f *forge) git(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = f.root, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v: %s", args, err, said)
	}
	return strings.TrimSpace(string(said))
}

// Claude Code mends a project of each language, tests it, commits and pushes, with a token that its commands never see.
func TestProjectsAreTestedCommittedAndPushedByARealAgent(t *testing.T) {
	backendtest.Reserve(t, "it compiles in five languages")
	t.Parallel()
	w, f := newWorker(t), serveForge(t)
	w.has(t, "claude", "@anthropic-ai/claude-code/bin/claude.exe")
	w.must(t, "git config --global user.name Ana && git config --global user.email ana@x.test && "+
		"git config --global init.defaultBranch main")
	for name, l := range languages {
		_, err := exec.LookPath(l.program)
		backendtest.Needs(t, strings.ToUpper(l.program)+" (run scripts/install-deps)", err)
		w.must(t, "mkdir -p src/"+name+"/src && cd src/"+name+" && git init -q .")
		for file, text := range l.files {
			backendtest.Must(t, os.WriteFile(filepath.Join(w.Home, "src", name, file), []byte(text), 0o644))
		}
		w.Own(t, filepath.Join(w.Home, "src", name))
		w.must(t, "cd src/"+name+" && printf 'target/\\n__pycache__/\\n' >.gitignore && git add . && git commit -qm first")
		w.must(t, "bailiff setup claude-code --allow-same-user --project src/"+name+accepted)
		f.git(t, "init", "-q", "--bare", name+".git")
		f.git(t, "-C", name+".git", "config", "http.receivepack", "true")
	}
	port := w.reaches(t, f)
	w.serves(t)
	for name, l := range languages {
		t.Run(name, func(t *testing.T) { w.works(t, f, port, name, l) })
	}
}

// reaches has sandboxes reach a forge, and their commands ask for its token.
func (w worker) reaches(t *testing.T, f *forge) (port string) {
	t.Helper()
	at := f.Listener.Addr().String()
	_, port, _ = strings.Cut(at, ":")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: f.Certificate().Raw})
	for name, text := range map[string]string{"forge.pem": string(certificate), "variables": "FORGE_TOKEN=" + f.token + "\n"} {
		backendtest.Must(t, os.WriteFile(filepath.Join(w.Home, name), []byte(text), 0o600))
		w.Own(t, filepath.Join(w.Home, name))
	}
	w.must(t, fmt.Sprintf(`cat >>.config/bailiff/bailiff.yaml <<EOF
egress: {hosts: {repo.example.com: 127.0.0.1}, own: ["%s"], trust: ["$HOME/forge.pem"]}
env: {sources: ["file:$HOME/variables"]}
EOF
cd .config/bailiff/policies && sed -i -e 's/^      platforms: {}$/      platforms: {cli: {network: egress, egress: [repo.example.com]}}/' \
  -e 's/^    destinations:$/&\n      repo.example.com: [{ports: [%s]}]/' \
  -e 's/^    env:$/&\n      FORGE_TOKEN: [{platforms: [cli], swap: {hosts: ["repo.example.com:%s"]}}]/' data.yaml`, at, port, port))
	w.must(t, `sed -i 's/bailiff-hook claude-code/& --env FORGE_TOKEN/' .claude/settings.json && grep -q -- --env .claude/settings.json`)
	return port
}

// asked approves what is asked about.
const asked = `until id=$(bailiff approvals list --output json | sed -n 's/.*"id": "\(.*\)",/\1/p' | head -1) && test -n "$id"
do sleep 0.2; done
exec bailiff approvals approve "$id"`

// works has Claude Code work on a project.
func (w worker) works(t *testing.T, f *forge, port, name string, l language) {
	t.Helper()
	first := filepath.Join(w.Home, "src", name, l.first)
	bash := func(command string) apptest.Call {
		return apptest.Call{Tool: "Bash", Args: map[string]any{"command": command, "timeout": 600_000}}
	}
	m := apptest.ServeModel(t, bash(l.test), apptest.Call{Tool: "Read", Args: map[string]any{"file_path": first}},
		apptest.Call{Tool: "Write", Args: map[string]any{"file_path": first,
			"content": strings.Replace(l.files[l.first], "a - b", "a + b", 1)}},
		bash(l.test), bash("git add -A && git commit -qm 'Add right' && git status --short"),
		bash("git push -q https://x:$FORGE_TOKEN@repo.example.com:"+port+"/"+name+".git HEAD:main; echo pushed $?"))
	yes := w.Shell(t, asked)
	backendtest.Must(t, yes.Start())
	told := m.Work(t, w.Shell(t, "cd src/"+name+" && ANTHROPIC_BASE_URL="+m.URL+" ANTHROPIC_API_KEY=none DISABLE_AUTOUPDATER=1 "+
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 exec claude -p go --permission-mode acceptEdits"))
	if err := yes.Wait(); err != nil {
		t.Errorf("the push was not asked about: %v", err)
	}
	if strings.Contains(told[0], l.passes) || !strings.Contains(told[3], l.passes) {
		t.Errorf("of the test its model is told %q, and after the file was mended %q", told[0], told[3])
	}
	if !strings.Contains(told[5], "pushed 0") || strings.Contains(strings.Join(told, ""), f.token) {
		t.Errorf("of what follows its model is told %q", told[4:])
	}
	mine := strings.Split(strings.TrimSpace(w.must(t, "cd src/"+name+" && git log --format='%s %an' && git status --short && "+
		"git rev-parse HEAD")), "\n")
	if len(mine) != 3 || mine[0] != "Add right Ana" || mine[1] != "first Ana" {
		t.Fatalf("the user's git says %q", mine)
	}
	if pushed := f.git(t, "-C", name+".git", "rev-parse", "main"); pushed != mine[2] {
		t.Errorf("pushed was %s, want %s", pushed, mine[2])
	}
}
