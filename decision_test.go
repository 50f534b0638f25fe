package bailiff

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestAHiddenReasonIsToldToNobodyWhoSendsRequests(t *testing.T) {
	secret := Reason{Rule: "canary.touched", Message: "It reads the canary.", Match: "/srv/canary", Hidden: true}
	open := Reason{Rule: "command.x", Message: "It does x."}
	d := Decision{Denials: []Reason{open, secret}, Approval: &ApprovalTerms{Reasons: []Reason{secret, open}}}
	text, err := json.Marshal(d.ForSender())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "canary") || strings.Count(string(text), "command.x") != 2 {
		t.Errorf("told %s", text)
	}
	if !reflect.DeepEqual(d.Denials[1], secret) || !reflect.DeepEqual(d.Approval.Reasons[0], secret) {
		t.Error("the decision itself has lost its reason")
	}
}

func TestProtectedPlacesAreBelowTheMount(t *testing.T) {
	for _, text := range []string{".mcp.json", ".claude/", ".git/modules/*/hooks/", "*/.git/config", "**/.git", "**/x",
		"**/.vscode/tasks.json", "**/*.code-workspace"} {
		if !IsProtectable(text) {
			t.Errorf("%q is no pattern", text)
		}
	}
	for _, text := range []string{"", "/", ".", "..", "/etc", "../x", "a/../b", "a//b", "a*", "a/*b/c", "[a]", "a?", `a\b`, "a//", "**",
		"**/.git/", "a/**/.git", "**/", "**/.", "**/../x", "**/a*", "**/*", "**/a/*.b", "**/*.a*", "*.a",
		"**/a/b/c",
		"**/*.a.b", "**/*.a/b"} {
		if IsProtectable(text) {
			t.Errorf("%q is a pattern", text)
		}
	}
}
