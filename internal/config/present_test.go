package config

import (
	"encoding/pem"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends/catalogue"
)

// look checks a configuration that stands beside a good secret, one that is empty, one
// that others may read, one that they may write, one that is long enough for a key, and
// a certificate.
func look(t *testing.T, text string) (folder string, o Outlook) {
	t.Helper()
	folder = t.TempDir()
	write(t, filepath.Join(folder, "good"), "sixteen-and-more\n", 0o600)
	write(t, filepath.Join(folder, "short"), "fifteen-letters\n", 0o600)
	write(t, filepath.Join(folder, "empty"), "\n", 0o600)
	write(t, filepath.Join(folder, "loose"), "sixteen-and-more\n", 0o644)
	write(t, filepath.Join(folder, "shared"), "secret\n", 0o666)
	write(t, filepath.Join(folder, "key"), strings.Repeat("secret", 6), 0o600)
	server := httptest.NewTLSServer(nil)
	server.Close()
	write(t, filepath.Join(folder, "ca"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
		Bytes: server.Certificate().Raw})), 0o600)
	path := filepath.Join(folder, "bailiff.yaml")
	write(t, path, text, 0o600)
	if _, err := Load(path, catalogue.All()); err != nil {
		t.Fatalf("it cannot be loaded: %v", err)
	}
	c, o, err := Check(path, catalogue.All())
	if err != nil || c == nil {
		t.Fatalf("checking it says %v", err)
	}
	return folder, o
}

func TestACredentialThatCannotBeUsedIsAFaultOfTheCheckAlone(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"good":   "",
		"gone":   "there is no file FOLDER/gone: write the secret there, for the sidecar's user alone (chmod 600)",
		".":      "reading a credential: FOLDER is no regular file",
		"loose":  "reading a credential: others may use FOLDER/loose (mode 0644), which holds a secret: chmod g-w,o= FOLDER/loose",
		"good/x": "reading a credential: open FOLDER/good/x: not a directory",
		"empty":  "reading a credential: FOLDER/empty is empty",
		"short":  "reading a credential: FOLDER/short holds a secret of 15 characters, want at least 16",
	} {
		folder, o := look(t, "backends:\n  daytona:\n    api_key: {file: "+place+"}\n")
		checkOutlook(t, place, o, folder, "backends.daytona.api_key", want)
	}
}

func TestTokensAndSecretsOfEverySectionAreLookedAtAlike(t *testing.T) {
	t.Parallel()
	for key, text := range map[string]string{
		"agent.listeners[0].token_file": "agent:\n  listeners:\n    - {name: a, listen: 'tcp://127.0.0.1:1', token_file: PLACE}\n",
		"operator.tokens[0].token_file": "operator:\n  console: '127.0.0.1:1'\n" +
			"  tokens: [{name: siem, scopes: [status.read], token_file: PLACE}]\n",
		"webhook.secret":        "webhook:\n  url: 'http://127.0.0.1:1'\n  secret: {file: PLACE}\n  listen: '127.0.0.1:1'\n",
		"traces.token":          "traces:\n  url: 'http://127.0.0.1:1'\n  token: {file: PLACE}\n",
		"policies.bundle.token": "policies:\n  bundle:\n    {url: 'https://a.test/b.tar.gz', token: {file: PLACE}}\n",
	} {
		for place, want := range map[string]string{
			"good":  "",
			"loose": "reading a credential: others may use FOLDER/loose (mode 0644), which holds a secret: chmod g-w,o= FOLDER/loose",
			"short": "reading a credential: FOLDER/short holds a secret of 15 characters, want at least 16",
		} {
			folder, o := look(t, strings.ReplaceAll(text, "PLACE", place))
			checkOutlook(t, key+" in "+place, o, folder, key, want)
		}
	}
}

func TestTwoTokensWithOneSecretAreAFaultOfTheCheck(t *testing.T) {
	t.Parallel()
	const text = `operator: {console: '127.0.0.1:1', tokens: [
  {name: siem, scopes: [status.read], token_file: good},
  {name: pager, scopes: [status.read], token_file: PLACE}]}
`
	folder, o := look(t, strings.ReplaceAll(text, "PLACE", "key"))
	checkOutlook(t, "two secrets", o, folder, "", "")
	folder, o = look(t, strings.ReplaceAll(text, "PLACE", "good"))
	want := `F/bailiff.yaml:2: operator.tokens[0].token_file: F/good holds the same secret as that of the token pager, want one for each
F/bailiff.yaml:3: operator.tokens[1].token_file: F/good holds the same secret as that of the token siem, want one for each`
	if want = strings.ReplaceAll(want, "F/", folder+"/"); o.Faults.Error() != want || len(o.Doubts) > 0 {
		t.Errorf("of one secret it says\n%v, %v\nwant\n%s", o.Faults, o.Doubts, want)
	}
}

func TestEachOfThreeTokensWithOneSecretHasItTogetherWithAnother(t *testing.T) {
	t.Parallel()
	write := func(name, secret string) Token {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte("a-secret-of-a-program: "+secret), 0o600); err != nil {
			t.Fatal(err)
		}
		return Token{Name: name, File: file}
	}
	tokens := []Token{write("one", "x"), write("other", "y"), write("two", "x"), {Name: "lost", File: "/nonexistent"}, write("three", "x")}
	want := map[string]string{"one": "two", "two": "one", "three": "one"}
	if got := SharedSecrets(tokens); !maps.Equal(got, want) {
		t.Errorf("shared are %v, want %v", got, want)
	}
}

// checkOutlook wants one fault, on the third line, or nothing.
func checkOutlook(t *testing.T, what string, o Outlook, folder, key, want string) {
	t.Helper()
	if want == "" {
		if len(o.Faults)+len(o.Doubts) > 0 {
			t.Errorf("of %s it says %v, %v", what, o.Faults, o.Doubts)
		}
		return
	}
	want = folder + "/bailiff.yaml:3: " + key + ": " + strings.ReplaceAll(want, "FOLDER", folder)
	if o.Faults.Error() != want || len(o.Doubts) > 0 {
		t.Errorf("of %s it says\n%v, %v\nwant\n%s", what, o.Faults, o.Doubts, want)
	}
}

func TestAVariableThatIsNotSetIsADoubt(t *testing.T) {
	t.Setenv("HAS_KEY", "sixteen-and-more")
	t.Setenv("VERCEL_TOKEN", " ")
	folder, o := look(t, `backends:
  vercel: {team: t, project: p}
  modal:
    token_id: {env: HAS_KEY}
    token_secret: {env: LACKS_KEY}
`)
	const later = " is not set here; the sidecar will need it in its own environment"
	want := folder + "/bailiff.yaml:2: backends.vercel.token: variable VERCEL_TOKEN" + later + "\n" +
		folder + "/bailiff.yaml:5: backends.modal.token_secret: variable LACKS_KEY" + later
	if len(o.Faults) > 0 || o.Doubts.Error() != want {
		t.Errorf("got  %v, %v\nwant %s", o.Faults, o.Doubts, want)
	}
}

func TestTheRunnerIsLookedAt(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	must(t, err)
	for path, want := range map[string]string{
		"gone":    "there is no FOLDER/gone: want the path of bailiff-runner",
		"good/x":  "looking at bailiff-runner: stat FOLDER/good/x: not a directory",
		".":       "FOLDER is no program: want the path of bailiff-runner, which may be executed (chmod 755)",
		"good":    "FOLDER/good is no program: want the path of bailiff-runner, which may be executed (chmod 755)",
		"/bin/sh": "/bin/sh is another program than bailiff-runner: want the one that came with this bailiff",
		self:      self + " is another program than bailiff-runner: want the one that came with this bailiff",
	} {
		folder, o := look(t, "state_dir: state\nrunner:\n  path: "+path+"\n")
		want = folder + "/bailiff.yaml:3: runner.path: " + strings.ReplaceAll(want, "FOLDER", folder)
		if o.Faults.Error() != want || len(o.Doubts) > 0 {
			t.Errorf("of %s it says\n%v, %v\nwant\n%s", path, o.Faults, o.Doubts, want)
		}
	}
}

func TestTheRunnersSourcesAreThoseOfBailiff(t *testing.T) {
	t.Parallel()
	built := func(from string) *debug.BuildInfo {
		return &debug.BuildInfo{Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.revision", Value: from}}}
	}
	for _, c := range []struct {
		own, runner *debug.BuildInfo
		other       bool
	}{
		{built("a"), built("a"), false}, {built("a"), built("b"), true},
		{built("a"), &debug.BuildInfo{}, false}, {&debug.BuildInfo{}, built("b"), false},
	} {
		if got := differ(revision(c.own), revision(c.runner)); got != c.other {
			t.Errorf("of %v and %v it says %v", c.own, c.runner, got)
		}
	}
}

func TestWhatAPathOfASettingNamesIsLookedAt(t *testing.T) {
	t.Parallel()
	folder, o := look(t, `backends:
  ssh:
    host: ana@build
    keys:
    - gone
    - loose
    - good
    known_hosts: [gone, good]
    agent: gone.sock
    root: /not/of/this/machine
    sandbox: bubblewrap
  docker:
    host: tcp://engine:2376
    tls:
      ca: good
      cert: shared
      key: loose
    mounts_allowed: [., gone]
  bubblewrap: {root: good}
  apptainer:
    image: /gone.sif
    program: gone
    auth_file: loose
  local: {workdir: gone}
`)
	for _, c := range []struct {
		found Faults
		want  []string
	}{
		{o.Faults, []string{
			"5: backends.ssh.keys[0]: there is no FOLDER/gone",
			"6: backends.ssh.keys[1]: others may use FOLDER/loose",
			"7: backends.ssh.keys[2]: want a private key: ssh: no key found",
			"8: backends.ssh.known_hosts[0]: there is no FOLDER/gone",
			"8: backends.ssh.known_hosts[1]: knownhosts: FOLDER/good:1: ",
			"15: backends.docker.tls.ca: FOLDER/good holds no certificate",
			"16: backends.docker.tls.cert: others may write FOLDER/shared",
			"17: backends.docker.tls.key: others may use FOLDER/loose",
			"19: backends.bubblewrap.root: FOLDER/good is no folder",
			"21: backends.apptainer.image: there is no file /gone.sif",
			"22: backends.apptainer.program: there is no program FOLDER/gone",
			"23: backends.apptainer.auth_file: others may use FOLDER/loose",
			"24: backends.local.workdir: there is no FOLDER/gone",
		}},
		{o.Doubts, []string{
			"9: backends.ssh.agent: there is no FOLDER/gone.sock now",
			"18: backends.docker.mounts_allowed[1]: there is no FOLDER/gone now",
		}},
	} {
		fits := func(f Fault, want string) bool {
			return strings.HasPrefix(f.Error(), folder+"/bailiff.yaml:"+strings.ReplaceAll(want, "FOLDER", folder))
		}
		if !slices.EqualFunc(c.found, c.want, fits) {
			t.Errorf("got\n%v\nwant\n%s", c.found, strings.Join(c.want, "\n"))
		}
	}
}

func TestWhatTheServersOfPoliciesAndOfTheLogAreKnownByIsLookedAt(t *testing.T) {
	t.Parallel()
	const bundle = "policies: {bundle: {url: 'https://a.test/b.tar.gz', ca_file: CA, key: {file: KEY, algorithm: ALGORITHM}}}\n"
	const export = "decision_log: {export: {url: 'https://a.test/logs', ca_file: CA}}\n"
	for _, c := range []struct{ ca, key, algorithm, of, want string }{
		{"ca", "ca", "RS256", bundle + export, ""},
		{"ca", "key", "HS256", bundle, ""},
		{"good", "key", "HS512", bundle, "1: policies.bundle.ca_file: FOLDER/good holds no certificate as PEM"},
		{"gone", "key", "HS256", bundle, "1: policies.bundle.ca_file: there is no FOLDER/gone"},
		{"ca", "gone", "HS256", bundle, "1: policies.bundle.key.file: there is no FOLDER/gone"},
		{"ca", "loose", "HS256", bundle, "1: policies.bundle.key.file: others may use FOLDER/loose (mode 0644), which holds a secret"},
		{"ca", "loose", "ES256", bundle, ""},
		{"ca", "shared", "ES256", bundle, "1: policies.bundle.key.file: others may write FOLDER/shared"},
		{"ca", "good", "HS384", bundle, "1: policies.bundle.key.file: FOLDER/good holds a secret of 17 bytes, want at least 32"},
		{"good", "", "", export, "1: decision_log.export.ca_file: FOLDER/good holds no certificate as PEM"},
		{"shared", "", "", export, "1: decision_log.export.ca_file: others may write FOLDER/shared"},
	} {
		text := strings.NewReplacer("CA", c.ca, "KEY", c.key, "ALGORITHM", c.algorithm).Replace(c.of)
		folder, o := look(t, text)
		want := folder + "/bailiff.yaml:" + strings.ReplaceAll(c.want, "FOLDER", folder)
		if c.want == "" && len(o.Faults) > 0 || c.want != "" &&
			(len(o.Faults) != 1 || !strings.HasPrefix(o.Faults.Error(), want)) || len(o.Doubts) > 0 {
			t.Errorf("of %s it says %v, %v, want %q", text, o.Faults, o.Doubts, c.want)
		}
	}
}

func TestNothingIsLookedForThatTheFileDoesNotName(t *testing.T) {
	t.Setenv("HOME", "/nowhere")
	if _, o, err := Check("", catalogue.All()); err != nil || len(o.Faults)+len(o.Doubts) > 0 {
		t.Errorf("without a file it says %v, %v", o, err)
	}
	if _, o := look(t, "backends: {docker: {host: \"ssh://a@b\", ssh: {agent: good}}, apptainer: {image: "+
		"docker://debian}}"); len(o.Faults)+len(o.Doubts) > 0 {
		t.Errorf("of defaults it says %v", o)
	}
}

// A section's place is said by its key, and should not be said again.
func TestWhatASectionLacksIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, section := range catalogue.All() {
		if err := section().Check(); err != nil && strings.Contains(err.Error(), "backends.") {
			t.Errorf("of an empty section %s it says: backends.%[1]s: %v", name, err)
		}
	}
}
