package chat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/summary"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

const (
	// noticeRunes is how many characters a notice has, since a message of Discord has 2,000
	// at most; leastRunes of them are kept for the request's texts.
	noticeRunes, leastRunes = 1900, 200
	noticeLines             = 25
	// longestLine is how many characters of any other value are shown, longestMatch of a
	// rule's match, mostReasons how many reasons, and mostAnswered how many people's answers to
	// the same.
	longestLine    = 120
	longestMatch   = 60
	longestOpinion = 300
	mostReasons    = 3
	mostAnswered   = 3
)

// notice is the message about an approval, with what is offered now. Person is
// the requester's name in people, empty if there is none. The request's texts are cut to
// what fits; then a file holds all of them.
func notice(e api.Entry, person string, o offer) Message {
	head, more, tail := &noticeWriter{}, &noticeWriter{}, &noticeWriter{}
	head.add(Strong, headline(e))
	head.line("who asks", summary.Asker(e, person))
	head.line("tool", summary.Tool(e.Request))
	if folder := e.Request.Args.Workdir; folder != "" {
		head.line("folder", folder)
	}
	more.offer(o)
	tail.terms(e, len(o.Answers) > 0)
	tail.reasons(e)
	tail.answers(e)
	for _, v := range e.Votes {
		tail.line("answer", said(v))
	}
	body := &noticeWriter{runes: max(noticeRunes-head.length()-more.length()-tail.length(), leastRunes), lines: noticeLines}
	body.texts(e)
	text := slices.Concat(head.text, body.text, more.text, tail.text)
	m := Message{Text: append(text, opinions(e, noticeRunes-runesOf(text))...), File: body.file}
	for _, a := range o.Answers {
		m.Buttons = append(m.Buttons, a.button())
	}
	return m
}

// opinions stand last and share what room is left, so that none has less of the request shown.
func opinions(e api.Entry, room int) (text Text) {
	for _, o := range e.Opinions {
		most := min(max(room/len(e.Opinions)-len(summary.OpinionName), longestMatch), longestOpinion)
		text = append(text, Piece{Plain, "\n" + summary.OpinionName + ": " + termsafe.Brief(summary.Opinion(o), most)})
	}
	return text
}

// offer writes what a yes to more than this request would be for. It stands next to the text, so
// that no service cuts it off.
func (n *noticeWriter) offer(o offer) {
	if o.Pattern != nil {
		n.add(Plain, "\npattern: ")
		n.add(Code, o.Pattern.Match)
		n.add(Plain, fmt.Sprintf(" would have covered %d of the last %d requests of this user that were asked about", o.Pattern.Covered,
			o.Pattern.Of))
	}
	for i, other := range o.Listed {
		n.add(Plain, fmt.Sprintf("\nalso waiting, %d: ", i+2))
		n.add(Code, other.Text)
		if other.Ended != "" {
			n.add(Plain, " is "+string(other.Ended)+" by now")
		}
	}
}

func (n *noticeWriter) terms(e api.Entry, here bool) {
	n.line("runs in", summary.Place(e.Decision))
	n.line("variables", cmp.Or(strings.Join(e.Decision.Env.Forward, ", "), "none"))
	switch {
	case e.State != bailiff.ApprovalPending:
	case here:
		n.line("until", e.Expires.UTC().Format(time.DateTime)+" UTC")
		n.held(e)
		n.line("who may answer", summary.Quorum(e.Plan))
	default:
		n.line("where", "it is asked elsewhere by now, on "+strings.Join(e.Plan.Channels, " or "))
	}
}

// held says that what is asked about runs already, and how long its connection waits.
func (n *noticeWriter) held(e api.Entry) {
	if !e.HeldUntil.IsZero() {
		n.line("runs already", "its connection to "+termsafe.Brief(e.Destination(), longestMatch)+" waits until "+
			e.HeldUntil.UTC().Format(time.TimeOnly)+" UTC")
	}
}

func (n *noticeWriter) reasons(e api.Entry) {
	for _, r := range e.Reasons[:min(len(e.Reasons), mostReasons)] {
		n.line("why", bailiff.Sentence(r.Message)+" ("+r.Rule+")")
		if r.Match != "" {
			n.add(Plain, " ")
			n.add(Code, termsafe.Brief(r.Match, longestMatch))
		}
	}
	if more := len(e.Reasons) - mostReasons; more > 0 {
		n.line("why", fmt.Sprintf("%d reasons more; bailiff approvals show %s has all", more, e.ID))
	}
}

// answers writes what people said before to the same rules and matches, while it is asked.
func (n *noticeWriter) answers(e api.Entry) {
	if e.State != bailiff.ApprovalPending {
		return
	}
	for _, a := range e.Answered[:min(len(e.Answered), mostAnswered)] {
		n.line("the same before", fmt.Sprintf("%s said yes %d× and no %d×", a.Person, a.Yes, a.No))
	}
}

// headline says the state of an approval.
func headline(e api.Entry) string {
	what, says := "Approval "+e.ID, termsafe.Brief(e.Message, longestLine)
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

func said(v api.Vote) string {
	return fmt.Sprintf("%s on %s: %s", cmp.Or(v.Person, v.Credential), v.Channel, summary.Answer(v))
}

// noticeWriter is a part of a notice that is being written.
type noticeWriter struct {
	text Text
	file *File
	// runes and lines are how much more of the request's texts is shown.
	runes, lines int
}

func (n *noticeWriter) add(style Style, text string) { n.text = append(n.text, Piece{style, text}) }

// line writes a name and a value of unknown origin.
func (n *noticeWriter) line(name, value string) {
	n.add(Plain, "\n"+name+": "+termsafe.Brief(value, longestLine))
}

func (n *noticeWriter) length() int { return runesOf(n.text) }

func runesOf(text Text) (runes int) {
	for _, p := range text {
		runes += utf8.RuneCountInString(p.Text)
	}
	return runes
}

// texts writes the texts that would run, with risky parts marked.
func (n *noticeWriter) texts(e api.Entry) {
	marks, _ := gateway.MarksOf(e)
	cut := false
	var all []byte
	for _, t := range summary.Texts(e.Request.Args, marks) {
		all = fmt.Appendf(all, "%s:\n%s\n", t.Name, termsafe.Lines(t.Text))
		shown, whole := n.block(t.Text, t.Marks)
		n.add(Plain, "\n"+t.Name+":\n")
		n.add(Block, shown)
		if !whole {
			n.add(Plain, fmt.Sprintf("\nThis is the beginning of %d characters: request.txt has all of it.",
				utf8.RuneCountInString(t.Text)))
			cut = true
		}
	}
	if cut {
		n.file = &File{Name: "request.txt", Content: all}
	}
}

// block is a text in letters of one width, with carets below its marked parts, as far as
// there is room.
func (n *noticeWriter) block(text string, marks []api.Mark) (shown string, whole bool) {
	var lines []string
	for at := 0; at <= len(text); {
		end := at + strings.IndexByte(text[at:]+"\n", '\n')
		line := n.fitting(text[at:end])
		above, below := withCarets(line, at, marks)
		lines = append(lines, above)
		n.spend(above)
		if below != "" {
			lines = append(lines, below)
			n.spend(below)
		}
		if at+len(line) < end || end < len(text) && (n.lines <= 0 || n.runes <= 0) {
			return strings.Join(lines, "\n"), false
		}
		at = end + 1
	}
	return strings.Join(lines, "\n"), true
}

func (n *noticeWriter) spend(line string) {
	n.runes -= utf8.RuneCountInString(line) + 1
	n.lines--
}

// fitting is as much of a line as there is room for with carets below.
func (n *noticeWriter) fitting(line string) string {
	room := n.runes / 2
	for i, c := range line {
		if room -= utf8.RuneCountInString(termsafe.Text(string(c))); room < 0 {
			return line[:i]
		}
	}
	return line
}

// withCarets is a line that begins at a place of a text, and the carets below it.
func withCarets(line string, start int, marks []api.Mark) (shown, below string) {
	var above, carets strings.Builder
	for i := 0; i < len(line); {
		_, size := utf8.DecodeRuneInString(line[i:])
		part := termsafe.Text(line[i : i+size])
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

func isMarked(at int, marks []api.Mark) bool {
	for _, m := range marks {
		if m.Start <= at && at < m.End {
			return true
		}
	}
	return false
}
