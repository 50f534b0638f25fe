// Package summary words an approval for those who answer it, the same in chats and on a terminal: who asks, for what, where it would run,
// and what was answered so far.
//
// What is promised: values that a request or a policy chose come as they are, so that each caller makes them safe for what it shows them
// on. The asker is named by values that it cannot choose; a display name comes last, as a quotation.
//
// What is not here: layouts, what fits into a message, and how marked parts are shown.
package summary

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

// Asker names who asks. Person is the requester's name in people, empty if people does not name the account.
func Asker(e api.Entry, person string) string {
	s := e.Request.Session
	who := s.Platform + ":" + s.UserID
	if person != "" {
		who = person + " (" + who + ")"
	}
	if s.Agent.IsSub() {
		who += ", " + s.Agent.String()
	}
	if s.Job != "" {
		who += ", job " + s.Job
	}
	if s.Unattended {
		who += ", unattended"
	}
	where := s.ChatType
	if s.ChatID != "" {
		where += " " + s.ChatID
	}
	if s.ThreadID != "" {
		where += ", thread " + s.ThreadID
	}
	who += " in " + cmp.Or(where, "session "+s.ID) + ", by " + e.Caller
	if person == "" && s.UserName != "" {
		who += ", called " + strconv.Quote(s.UserName)
	}
	return who
}

// Tool is what a request asks for, without its texts.
func Tool(r bailiff.Request) string {
	switch a := r.Args; {
	case r.Tool == bailiff.MCP:
		return "tool " + a.Name + " of the MCP server " + a.Server
	case a.Server != "":
		return "start of the MCP server " + a.Server
	case a.Background:
		return string(r.Tool) + " in the background"
	case r.Tool == bailiff.Call:
		return "call of " + a.Name + " by a script"
	default:
		return strings.TrimSpace(string(r.Tool) + " " + a.Action + " " + a.ProcessID)
	}
}

// Place is where a request would run, with its network.
func Place(d bailiff.Decision) string {
	network := cmp.Or(d.Backend.Network, "none")
	if len(d.Backend.Egress) > 0 {
		network += " to " + strings.Join(d.Backend.Egress, " ")
	}
	return d.Backend.Place() + ", network " + network
}

// Quorum is who may answer, and how many must.
func Quorum(p api.Plan) string {
	who := strings.Join(p.Approvers, ", ")
	if p.Quorum < 2 {
		return who
	}
	return fmt.Sprintf("%d of %s", p.Quorum, who)
}

// Answer is what a vote says.
func Answer(v api.Vote) string {
	answer := "no"
	if v.Approve {
		answer = "yes, " + v.Scope
	}
	if v.For > 0 {
		answer += " for " + v.For.String()
	}
	if v.Times > 0 {
		answer += fmt.Sprintf(", %d times", v.Times)
	}
	if v.Reason != "" {
		answer += ": " + v.Reason
	}
	return answer
}

// Opinion is what a program said, as a quotation.
func Opinion(o api.Opinion) string { return o.By + " says: " + strconv.Quote(o.Text) }

// OpinionName stands before an opinion.
const OpinionName = "opinion, not an answer, and not to be trusted"

// Text is a text of a request by its name, with its risky parts.
type Text struct {
	Name, Text string
	Marks      []api.Mark
}

// Texts are those of a request that hold something.
func Texts(a bailiff.Args, marks []api.Mark) (all []Text) {
	for _, t := range []Text{{Name: "command", Text: a.Command}, {Name: "code", Text: a.Code}, {Name: "stdin", Text: a.Stdin},
		{Name: "typed before", Text: a.Typed.End}, {Name: "data", Text: a.Data}, {Name: "arguments", Text: a.Arguments}} {
		for _, m := range marks {
			if m.Text == t.Name {
				t.Marks = append(t.Marks, m)
			}
		}
		if t.Text != "" {
			all = append(all, t)
		}
	}
	return all
}
