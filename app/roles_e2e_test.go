package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// aGuest has ana, whose user the tests run as, be a guest, who may not use the host and gets no variable.
const aGuest = "roles: {guest: {people: [ana], backends: [bubblewrap], env: []}}"

func TestAGuestDoesNotUseTheHostAndGetsNoVariable(t *testing.T) {
	t.Parallel()
	_, policies := shippedWith(t, "roles: {}", aGuest)
	o := startOffice(t, openDir(t), onePerson(t, policies, onTheHost(t), "env: {sources: [\"file:"+variables(t, "TZ=Pacific/Apia")+"\"]}"))
	onHost := atTerminal("s", "true")
	if a := ask(t, o.agent, onHost); a.Status != bailiff.Refused || !denies(a.Decision, "role.backend") {
		t.Errorf("on the host: %s %v", a.Status, a.Decision.Denials)
	}
	anywhere := atTerminal("s", "printf '%s' \"zone $TZ\"")
	anywhere.Backend, anywhere.Env = "", []string{"TZ"}
	a := ask(t, o.agent, anywhere)
	if a.Status != bailiff.Completed || a.Backend != "bubblewrap" || a.Output != "zone " {
		t.Errorf("in a sandbox: %s on %s: %q %s", a.Status, a.Backend, a.Output, a.Message)
	}
	if held := a.Decision.Env.Withheld; len(held) != 1 || held[0] != (bailiff.Withheld{Name: "TZ", Rule: "env.role"}) {
		t.Errorf("withheld are %v", held)
	}
}

func denies(d bailiff.Decision, rule string) bool {
	for _, r := range d.Denials {
		if r.Rule == rule {
			return true
		}
	}
	return false
}

// variables writes a file of variables.
func variables(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(openDir(t), "variables.env")
	must(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	return path
}

// whose says whose value a command gets.
const whose = `case "$WHOSE_TOKEN" in value-of-*) printf %s "${WHOSE_TOKEN#value-of-}";; *) printf none;; esac`

func TestAVariableOfEachPersonIsThatPersonsAndNoOneElses(t *testing.T) {
	t.Parallel()
	o := startOffice(t, openDir(t), eachTheirOwn(t))
	expect := func(user, command, want string) {
		t.Helper()
		if a := ask(t, o.agent, inGroup(user, command)); a.Status != bailiff.Completed || a.Output != want {
			t.Errorf("user %s: %s %q, want %q: %s", user, a.Status, a.Output, want, a.Message)
		}
	}
	expect("42", whose, "ana")
	expect("43", whose, "ben")
	expect("44", whose, "none")
	expect("99", whose, "none")
	expect("42", `printf %s "$WHOSE_TOKEN" >left`, "")
	expect("43", "cat left", "[WHOSE_TOKEN-earlier2 redacted]")

	next := *o.cfg
	next.People = slices.Clone(next.People)
	next.People[0].Accounts, next.People[1].Accounts = next.People[1].Accounts, next.People[0].Accounts
	if waiting, err := o.reload(t.Context(), &next); err != nil || len(waiting) > 0 {
		t.Fatalf("waiting are %v, %v", waiting, err)
	}
	expect("42", whose, "ben")
	expect("43", whose, "ana")
	next.People = slices.Clone(next.People)
	next.People[0].Env = nil
	if _, err := o.reload(t.Context(), &next); err != nil {
		t.Fatal(err)
	}
	expect("43", whose, "none")
}

func TestARowOfNobodyIsAWarning(t *testing.T) {
	t.Parallel()
	_, policies := shippedWith(t, "roles: {}", "roles: {guest: {people: [anna], env: []}}")
	o := startOffice(t, openDir(t), onePerson(t, policies, onTheHost(t)))
	status, err := o.operator.Status(t.Context())
	must(t, err)
	const want = `in the tables, roles.guest.people.0: people in bailiff.yaml names no person "anna", nearest is "ana"`
	if !slices.Contains(status.Warnings, want) {
		t.Errorf("the warnings are %q, want %q", status.Warnings, want)
	}
}

// eachTheirOwn has ana and ben have a value each, and carl none.
func eachTheirOwn(t *testing.T) (text string) {
	t.Helper()
	_, policies := shippedWith(t, "      TZ:\n", "      WHOSE_TOKEN:\n        - {platforms: [\"*\"], from_user: true}\n      TZ:\n")
	of := fmt.Sprintf("people: [{name: ana, uids: [%d]}]\n", os.Getuid())
	people := fmt.Sprintf(`people:
  - {name: ana, uids: [%d], telegram: ["42"], env: ["file:%s"]}
  - {name: ben, telegram: ["43"], env: ["file:%s"]}
  - {name: carl, telegram: ["44"]}
`, os.Getuid(), variables(t, "WHOSE_TOKEN=value-of-ana"), variables(t, "WHOSE_TOKEN=value-of-ben"))
	return strings.Replace(onePerson(t, policies, onTheHost(t), "env: {sources: [\"file:"+variables(t, "WHOSE_TOKEN=value-of-all")+"\"]}"),
		of, people, 1)
}

// inGroup is a command with the variable, of a user of a group.
func inGroup(user, command string) bailiff.Request {
	req := atTerminal("group", command)
	req.Backend, req.Env = "", []string{"WHOSE_TOKEN"}
	req.Session.Platform, req.Session.ChatType, req.Session.UserID = "telegram", "group", user
	return req
}

func TestAGuestIsOneForClientsThatRunThingsThemselves(t *testing.T) {
	t.Parallel()
	_, policies := shippedWith(t, "roles: {}", aGuest)
	o := startOffice(t, openDir(t), onePerson(t, policies, onTheHost(t)))
	decided, err := o.agent.Decide(t.Context(), []byte(`{"tool": "terminal", "args": {"command": "true"}, "backend": "local",
		"session": {"id": "s", "platform": "cli"}}`))
	if must(t, err); !denies(decided.Decision, "role.backend") {
		t.Errorf("asked about alone: %+v", decided.Decision.Denials)
	}
	socket := strings.TrimPrefix(o.cfg.Agent.Listeners[0].Listen.String(), "unix://")
	const input = `{"input": {"tool": "terminal", "args": {"command": "true"}, "session": {"id": "s", "platform": "cli"},
		"backend": {"requested": "local"}}}`
	for _, path := range []string{"bailiff/decision", "agent/call/decision"} {
		if answer := askSocket(t, socket, "/v1/data/"+path, input, nil); !strings.Contains(answer, "role.backend") {
			t.Errorf("%s is answered %s", path, answer)
		}
	}
}

func TestTheSandboxOfAGuestStaysWhenPeopleAreReadAgain(t *testing.T) {
	t.Parallel()
	const opened = "      platforms: {cli: {network: full}}\n"
	folder, policies := shippedWith(t, "roles: {}", "roles: {guest: {people: [ana], backends: [bubblewrap], network: {network: none}}}")
	tables := filepath.Join(folder, "data.yaml")
	text, err := os.ReadFile(tables) //nolint:gosec // the test's own
	must(t, err)
	must(t, os.WriteFile(tables, []byte(strings.Replace(string(text), "      platforms: {}\n", opened, 1)), 0o600))
	o := startOffice(t, openDir(t), onePerson(t, policies, onTheHost(t)))
	run := func(command string) (sandbox, output string) {
		t.Helper()
		req := atTerminal("s", command)
		req.Backend = ""
		a := ask(t, o.agent, req)
		if a.Status != bailiff.Completed || a.Decision.Backend.Network != "none" {
			t.Fatalf("%s: %s with network %q: %s", command, a.Status, a.Decision.Backend.Network, a.Message)
		}
		return a.SandboxID, a.Output
	}
	first, _ := run("echo kept >file")
	next := *o.cfg
	next.People = slices.Clone(next.People)
	next.People[0].Groups = []string{"others"}
	if _, err := o.reload(t.Context(), &next); err != nil {
		t.Fatal(err)
	}
	o.enforcer.Rejudge(t.Context())
	if again, output := run("cat file"); output != "kept\n" || again != first {
		t.Errorf("the sandbox was %s and is %s, where the file is %q", first, again, output)
	}
}
