package chat

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

const (
	// shownChars and shownLines are how much of an output a message shows.
	shownChars = 1500
	shownLines = 40
	// endChars and endLines are how much of each end it shows of a longer output.
	endChars = 600
	endLines = 12
	// commandLength is how much of a command is repeated.
	commandLength = 120
)

// outcome is the message that answers a command; why is why it was stopped.
func outcome(r *run, a api.Answer, err error, why string) Message {
	var m Message
	if r.late {
		m.Text = Text{{Code, termsafe.Brief(r.what.text, commandLength)}, {Plain, "\n"}}
	}
	if err != nil {
		m.Text = append(m.Text, notRun(err)...)
		return m
	}
	output, err := a.Bytes()
	if err != nil {
		output, a.Message = nil, a.Message+" The output cannot be read: "+bailiff.Sentence(err.Error())
	}
	shown, file := display(output)
	m.Text, m.File = append(m.Text, shown...), file
	m.Text = append(m.Text, remarks(a, len(output) > 0, why)...)
	m.Text = slices.DeleteFunc(m.Text, func(p Piece) bool { return p.Text == "" })
	return m
}

// remarks say what the output does not.
func remarks(a api.Answer, printed bool, why string) (said Text) {
	message := lines(strings.TrimSpace(a.Message))
	switch {
	case why != "" && (a.Status == bailiff.Interrupted || a.Status == bailiff.ApprovalRequired):
		return Text{{Strong, why}}
	case a.Status == bailiff.Completed:
		return append(end(a, printed), saying(message)...)
	case a.Status == bailiff.TimedOut:
		return Text{{Strong, "Its time was up. "}, {Plain, message}}
	}
	return Text{{Strong, headings[a.Status]}, {Plain, message}}
}

// headings are the first words about commands that did not run to their end.
var headings = map[bailiff.Status]string{
	bailiff.Refused: "Not run. ", bailiff.Expired: "Not run. ", bailiff.Unavailable: "Not run. ", bailiff.ApprovalRequired: "Not run yet. ",
	bailiff.Interrupted: "Interrupted. ", bailiff.Failed: "Failed. ",
}

// end says how a command ended that ran to its end.
func end(a api.Answer, printed bool) (said Text) {
	if a.ExitCode != 0 {
		said = append(said, Piece{Strong, fmt.Sprintf("Exit status %d. ", a.ExitCode)})
	}
	if a.Truncated {
		said = append(said, Piece{Plain, "The middle of the output went beyond the limit and is lost. "})
	}
	if !printed {
		said = append(said, Piece{Plain, "It printed nothing. "})
	}
	return said
}

// display is an output as a message shows it, with the whole output as a file if the
// message does not show all of it.
func display(output []byte) (shown Text, whole *File) {
	switch {
	case len(output) == 0:
		return nil, nil
	case !utf8.Valid(output):
		return saying("The output is no text: it is in output.bin. "), &File{"output.bin", output}
	case len(bytes.TrimSpace(output)) == 0:
		return saying("It printed nothing but white space. "), nil
	}
	if len(output) <= shownChars*utf8.UTFMax {
		text := strings.TrimSuffix(lines(string(output)), "\n")
		if utf8.RuneCountInString(text) <= shownChars && strings.Count(text, "\n") < shownLines {
			return Text{{Block, text}}, nil
		}
	}
	head, tail := ends(string(output))
	return Text{{Block, head}, {Plain, between(output, head, tail)}, {Block, tail}}, &File{"output.txt", output}
}

// ends are the first and the last lines of a long text.
func ends(text string) (head, tail string) {
	const enough = endChars * utf8.UTFMax
	first := lines(strings.ToValidUTF8(text[:min(len(text), enough)], ""))
	last := strings.TrimSuffix(lines(strings.ToValidUTF8(text[max(0, len(text)-enough):], "")), "\n")
	head = strings.Join(firstOf(strings.SplitN(first, "\n", endLines+1), endLines), "\n")
	all := strings.Split(last, "\n")
	tail = strings.Join(all[max(0, len(all)-endLines):], "\n")
	if runes := []rune(head); len(runes) > endChars {
		head = string(runes[:endChars])
	}
	if runes := []rune(tail); len(runes) > endChars {
		tail = string(runes[len(runes)-endChars:])
	}
	return head, tail
}

func firstOf(all []string, most int) []string { return all[:min(len(all), most)] }

// between says what is left out between the ends.
func between(output []byte, head, tail string) string {
	total := bytes.Count(bytes.TrimSuffix(output, []byte("\n")), []byte("\n")) + 1
	left := total - strings.Count(head, "\n") - strings.Count(tail, "\n") - 2
	if left <= 0 {
		return "… the rest is left out here, see output.txt …"
	}
	return fmt.Sprintf("… %s left out here, see output.txt …", amount(left, "line", "lines"))
}

// standing is the state of the approval that a command waits or waited for.
func standing(a api.Approval) Text {
	said := Text{{Strong, stateOf[a.State]}, {Plain, " Approval "}, {Code, termsafe.Brief(a.ID, commandLength)},
		{Plain, ": " + lines(a.Message)}}
	if a.URL != "" {
		said = append(said, Piece{Plain, " "}, Piece{Code, termsafe.Text(a.URL)})
	}
	return said
}

// stateOf says what a state means for a command; without one it was stopped.
var stateOf = map[bailiff.ApprovalState]string{
	bailiff.ApprovalPending: "Waiting for approval.", bailiff.ApprovalApproved: "Approved.", bailiff.ApprovalDenied: "Denied.",
	bailiff.ApprovalExpired: "Expired.", bailiff.ApprovalVoid: "Void.", bailiff.ApprovalCancelled: "Cancelled.",
	bailiff.ApprovalUnreachable: "Nobody can be asked.",
	"":                          "Waits no longer.",
}

// lines shows the lines of a text of unknown origin.
func lines(text string) string { return termsafe.Lines(text) }

// amount counts things.
func amount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
