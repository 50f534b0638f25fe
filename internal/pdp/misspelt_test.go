package pdp

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/pdp/source"
)

// composing are policies that read what others contribute.
const composing = `package bailiff

decision := {"denials": deny, "approval": require_approval, "env": forward_env, "limits": limits}

deny contains {"rule": "a", "message": "A."} if input.tool == "call"

require_approval contains {"rule": "b", "message": "B."} if input.tool == "process"

forward_env contains "X"

limits contains {"timeout_seconds": 180}
`

func TestWhatCountsForNothingSinceItIsMisspeltDoesNotComeIntoForce(t *testing.T) {
	const said = `"rule": "house.x", "message": "No."`
	for name, c := range map[string]struct{ text, want string }{
		"a set": {`denny contains {` + said + `}`,
			`5: no rule reads the set denny: want deny, or another name if it is a set of your own`},
		"a set of names": {`forward_envs contains "X"`, `5: no rule reads the set forward_envs: want forward_env`},
		"a key": {"deny contains {\n\t\"rul\": \"house.x\", \"message\": \"No.\"}",
			`6: a member of deny has no key "rul" that any rule reads, nearest valid key is "rule"`},
		"a key of a limit": {`limits contains {"timeout_secs": 9}`,
			`5: a member of limits has no key "timeout_secs" that any rule reads, nearest valid key is "timeout_seconds"`},
		"a key of terms": {`require_approval contains {` + said + `, "quorom": 2}`, `nearest valid key is "quorum"`},
		"a key of what has a name": {"deny contains said if {\n\tsaid := {\"rule\": \"house.x\", \"mesage\": \"No.\"}\n}",
			`6: a member of deny has no key "mesage"`},
		"a type of chats": {`deny contains {` + said + "} if {\n\tinput.session.chat_type == \"grop\"\n}",
			`6: input.session.chat_type is never "grop": unknown word, nearest valid word is "group"`},
		"a tool": {`deny contains {` + said + `} if "terminl" != input.tool`,
			`5: input.tool is never "terminl": unknown word, nearest valid word is "terminal"`},
		"one of several": {`deny contains {` + said + `} if input.session.chat_type in {"dm", "chanel"}`,
			`nearest valid word is "channel"`},
		"a word in a list": {`deny contains {` + said + `} if some _ in [x | x := input.args.action in ["killl"]]`,
			`nearest valid word is "kill"`},
		"a set of one's own":           {"dent contains 1\n\ndeny contains {" + said + "} if count(dent) > 1", ""},
		"a set with a name of its own": {`shifts contains 1`, ""},
		"a key of one's own":           {`deny contains {` + said + `, "owner": "ana"}`, ""},
		"a key that a rule reads": {"deny contains {" + said +
			", \"matched\": 1}\n\nmatches if {\n\tsome said in deny\n\tsaid.matched == 2\n}", ""},
		"a key beside the one like it": {`deny contains {` + said + `, "roles": 1}`, ""},
		"what is compared elsewhere":   {`deny contains {` + said + `} if input.session.user_id == "grop"`, ""},
		"valid words":                  {`deny contains {` + said + `} if input.tool in {"terminal", "call"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			root := tree(t, map[string]string{"p.rego": composing, "house.rego": "package bailiff\n\n# Ours.\n\n" + c.text + "\n"})
			want := ""
			if c.want != "" {
				want = filepath.Join(root, "house.rego") + ":" + c.want
			}
			for command, wrong := range map[string]source.Faults{"check": Check(Config{Paths: []string{root}}),
				"start": startingWith(root)} {
				if got := wrong.Error(); (got == "") != (want == "") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
					t.Errorf("%s: got %q, want %q", command, got, want)
				}
			}
		})
	}
}
