package chat

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/visible"
)

// How much of a request's texts a notice shows; what is longer goes along as a file. With
// a line of carets below each line and all the rest it fits where 2,000 characters do.
const (
	noticeRunes = 500
	noticeLines = 20
	// longestLine is how many characters of anything else are shown, and mostReasons how
	// many reasons.
	longestLine = 150
	mostReasons = 3
)

// notice is what is shown of an approval, with the answers that can be given now.
func notice(e approval.Entry, answers []option) Message {
	n := &sheet{runes: noticeRunes, lines: noticeLines}
	n.add(Strong, headline(e))
	n.line("who asks", requester(e))
	n.texts(e)
	for _, r := range e.Reasons[:min(len(e.Reasons), mostReasons)] {
		n.reason(r)
	}
	if more := len(e.Reasons) - mostReasons; more > 0 {
		n.line("why", fmt.Sprintf("%d reasons more; bailiff approvals show %s has all", more, e.ID))
	}
	n.line("runs in", terms(e.Decision))
	n.line("variables", cmp.Or(strings.Join(e.Decision.Env.Forward, ", "), "none"))
	if e.State == bailiff.ApprovalPending {
		n.line("until", e.Expires.UTC().Format(time.DateTime)+" UTC")
		n.line("who may answer", quorum(e))
	}
	for _, v := range e.Votes {
		n.line("answer", said(v))
	}
	m := Message{Text: n.text, File: n.file}
	for _, o := range answers {
		m.Buttons = append(m.Buttons, o.button())
	}
	return m
}

// headline says what became of an approval.
func headline(e approval.Entry) string {
	what, says := "Approval "+e.ID, visible.Brief(e.Message, longestLine)
	switch e.State {
	case bailiff.ApprovalPending:
		return what + " is asked for"
	case bailiff.ApprovalApproved:
		return "✅ " + what + ": " + says
	case bailiff.ApprovalDenied:
		return "⛔ " + what + ": " + says
	}
	return "⛔ " + what + " is " + string(e.State) + ": " + says
}

func requester(e approval.Entry) string {
	s := e.Request.Session
	who := s.Platform + ":" + s.UserID
	if s.UserName != "" {
		who = s.UserName + " (" + who + ")"
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
	return who + " in " + cmp.Or(where, "session "+s.ID) + ", by " + e.Caller
}

func terms(d bailiff.Decision) string {
	network := cmp.Or(d.Backend.Network, "none")
	if len(d.Backend.Egress) > 0 {
		network += " to " + strings.Join(d.Backend.Egress, " ")
	}
	return strings.TrimSpace(d.Backend.Name+" "+d.Backend.Image) + ", network " + network
}

func quorum(e approval.Entry) string {
	who := strings.Join(e.Plan.Approvers, ", ")
	if e.Plan.Quorum < 2 {
		return who
	}
	return fmt.Sprintf("%d of %s", e.Plan.Quorum, who)
}

func said(v approval.Vote) string {
	answer := "no"
	if v.Approve {
		answer = "yes, " + v.Scope
	}
	if v.Reason != "" {
		answer += ": " + v.Reason
	}
	return fmt.Sprintf("%s on %s: %s", cmp.Or(v.Person, v.Credential), v.Channel, answer)
}

// sheet is a notice that is being written.
type sheet struct {
	text Text
	file *File
	// runes and lines are how much more of the request's texts is shown.
	runes, lines int
}

func (n *sheet) add(style Style, text string) { n.text = append(n.text, Piece{style, text}) }

// line is a name and what somebody else may have written.
func (n *sheet) line(name, value string) {
	n.add(Plain, "\n"+name+": "+visible.Brief(value, longestLine))
}

func (n *sheet) reason(r bailiff.Reason) {
	n.line("why", bailiff.Sentence(r.Message)+" ("+r.Rule+")")
	if r.Match != "" {
		n.add(Plain, " ")
		n.add(Code, visible.Brief(r.Match, longestLine))
	}
}

// texts are what would run, with what is risky marked.
func (n *sheet) texts(e approval.Entry) {
	a := e.Request.Args
	n.line("tool", strings.TrimSpace(string(e.Request.Tool)+" "+cmp.Or(a.Name, a.Action+" "+a.ProcessID)))
	if a.Workdir != "" {
		n.line("folder", a.Workdir)
	}
	marks, _ := gateway.MarksOf(e)
	for _, t := range []struct{ name, text string }{
		{"command", a.Command}, {"code", a.Code}, {"stdin", a.Stdin}, {"data", a.Data}, {"arguments", a.Arguments},
	} {
		if t.text == "" {
			continue
		}
		n.add(Plain, "\n"+t.name+":\n")
		n.body(t.name, t.text, of(marks, t.name))
	}
}

// body is one text, or its beginning, in which case the whole goes along.
func (n *sheet) body(name, text string, marks []gateway.Mark) {
	shown := n.beginning(text)
	n.add(Block, underlined(shown, marks))
	if len(shown) == len(text) {
		return
	}
	n.add(Plain, fmt.Sprintf("\nThis is the beginning of %d lines; the file has all of it.", strings.Count(text, "\n")+1))
	if n.file == nil {
		n.file = &File{Name: "request.txt"}
	}
	n.file.Content = fmt.Appendf(n.file.Content, "%s:\n%s\n", name, visible.Lines(text))
}

// beginning is as much of a text as there is room for.
func (n *sheet) beginning(text string) string {
	for i, c := range text {
		if n.runes--; c == '\n' {
			n.lines--
		}
		if n.runes < 0 || n.lines < 0 {
			return text[:i]
		}
	}
	return text
}

func of(marks []gateway.Mark, text string) (all []gateway.Mark) {
	for _, m := range marks {
		if m.Text == text {
			all = append(all, m)
		}
	}
	return all
}

// underlined is a text in letters of one width, with a line of carets below what is
// marked.
func underlined(text string, marks []gateway.Mark) string {
	var lines []string
	for at := 0; at <= len(text); {
		end := at + strings.IndexByte(text[at:]+"\n", '\n')
		line, below := marked(text[at:end], at, marks)
		lines = append(lines, line)
		if below != "" {
			lines = append(lines, below)
		}
		at = end + 1
	}
	return strings.Join(lines, "\n")
}

// marked is a line that begins at a place of a text, and the carets below it.
func marked(line string, start int, marks []gateway.Mark) (shown, below string) {
	var above, carets strings.Builder
	for i := 0; i < len(line); {
		_, size := utf8.DecodeRuneInString(line[i:])
		part := visible.Text(line[i : i+size])
		sign := " "
		if isMarked(start+i, marks) {
			sign = "^"
		}
		above.WriteString(part)
		carets.WriteString(strings.Repeat(sign, utf8.RuneCountInString(part)))
		i += size
	}
	return above.String(), strings.TrimRight(carets.String(), " ")
}

func isMarked(at int, marks []gateway.Mark) bool {
	for _, m := range marks {
		if m.Start <= at && at < m.End {
			return true
		}
	}
	return false
}
