package chat

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// help lists the slash commands.
var help = Text{
	{Plain, "What you write to me runs as a command in this session's sandbox, a block between three backticks as Python. "},
	{Code, slashStatus}, {Plain, " says what runs, "}, {Code, slashStop}, {Plain, " stops it, "},
	{Code, slashNew}, {Plain, " removes the sandbox, "}, {Code, slashApprovals}, {Plain, " says what waits for whom, "},
	{Code, slashUndo + " ID"}, {Plain, " puts back what a command changed in a project."},
}

// slashCommand runs a command to bailiff itself.
func (s *Sessions) slashCommand(said Said, word string) (refusal Text) {
	id := s.idOf(said.Kind, said.Place, said.By)
	if isUndo(word) {
		return s.startWork(func() { s.undo(said, word) })
	}
	switch word {
	case slashStatus:
		s.replyAsync(said, s.orInThreads(said, s.status(id)))
	case slashApprovals:
		s.replyAsync(said, s.approvals(id))
	case slashStop:
		s.replyAsync(said, s.orInThreads(said, s.stop(id, said.By).text()))
	case slashNew:
		what := s.stop(id, said.By)
		if what == nil {
			what = &stopped{by: said.By}
		}
		return s.enqueue(id, job{said: said, at: said.Place, kind: said.Kind, ends: what})
	default:
		s.replyAsync(said, help)
	}
	return nil
}

// orInThreads adds that other sessions of the chat are in its threads.
func (s *Sessions) orInThreads(to Said, of Text) Text {
	if s.config.Threads && to.Kind != "thread" && to.Kind != "dm" {
		return append(of, Piece{Plain, " What was begun by naming me is in the threads here, each a session of its own."})
	}
	return of
}

// text says what was stopped.
func (w *stopped) text() Text {
	if w == nil || w.command == "" && w.waiting == 0 {
		return saying("Nothing runs here.")
	}
	var said Text
	if w.command != "" {
		said = Text{{Plain, "Stopped "}, {Code, termsafe.Brief(w.command, commandLength)}, {Plain, "."}}
	}
	if w.waiting > 0 {
		said = append(said, Piece{Plain, " " + bailiff.Sentence(amount(w.waiting, "command that waited does", "commands that waited do")+
			" not run")})
	}
	return said
}

// endSessionTimeout is how long the end of a session may take.
const endSessionTimeout = time.Minute

// endSession ends a session at the sidecar, so that the next command starts afresh.
func (s *Sessions) endSession(ctx context.Context, o *session, r *run) {
	ctx, cancel := context.WithTimeout(ctx, endSessionTimeout)
	defer cancel()
	ended, err := s.config.Sidecar.EndSession(ctx, o.id)
	var said Text
	if r.ends.command != "" || r.ends.waiting > 0 {
		said = append(r.ends.text(), Piece{Plain, " "})
	}
	if err != nil {
		said = append(said, Piece{Strong, "The sandbox is not removed. "}, Piece{Plain, bailiff.Sentence(bailiff.Foreign(err.Error()))})
	} else {
		said = append(said, Piece{Plain, removalNote(ended)})
	}
	s.last.Take(o.id)
	speaking, stop := s.sendContext(replyTimeout)
	defer stop()
	s.reply(speaking, r.said, said)
}

// removalNote says what was removed with a session.
func removalNote(e bailiff.Ended) string {
	if e.Sandboxes == 0 && e.Processes == 0 {
		return "There was no sandbox; the next command gets a new one."
	}
	said := "Removed " + amount(e.Sandboxes, "sandbox", "sandboxes")
	if e.Processes > 0 {
		said += " and stopped " + amount(e.Processes, "background process", "background processes")
	}
	return said + "; the next command gets a new one."
}

// status says what a session does, and which backend answered last.
func (s *Sessions) status(id string) Text {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	said := saying("Nothing runs here.")
	if o := s.open[id]; o != nil {
		said = o.status(now)
	}
	if last, known := s.last.Get(id); known {
		said = append(said, Piece{Plain, fmt.Sprintf("\nThe last answer came %s ago from ", ago(now, last.at))},
			Piece{Code, termsafe.Text(last.backend)})
		if last.sandbox != "" {
			said = append(said, Piece{Plain, ", sandbox "}, Piece{Code, termsafe.Text(last.sandbox)})
		}
		said = append(said, Piece{Plain, "."})
	}
	return said
}

func (o *session) status(now time.Time) (said Text) {
	switch r := o.current; {
	case r == nil:
		said = saying("Nothing runs here yet.")
	case r.ends != nil:
		said = saying("The sandbox is being removed.")
	default:
		said = Text{{Code, termsafe.Brief(r.what.text, commandLength)},
			{Plain, fmt.Sprintf(" of %s is under way for %s.", name(r.said.By), ago(now, r.since))}}
		if r.over {
			said = Text{{Code, termsafe.Brief(r.what.text, commandLength)}, {Plain, " has ended, and its answer is being shown."}}
		} else if r.waits != nil {
			said = append(append(said, Piece{Plain, "\n"}), standing(*r.waits)...)
		} else if r.step != "" {
			said = append(said, Piece{Plain, " " + bailiff.Sentence(termsafe.Text(r.step))})
		}
	}
	if waiting := len(o.queue); waiting > 0 {
		said = append(said, Piece{Plain, "\n" + amount(waiting, "command waits", "commands wait") + " behind it."})
	}
	return said
}

// ago is how long something has lasted, in whole seconds.
func ago(now, since time.Time) string { return now.Sub(since).Truncate(time.Second).String() }

// mostApprovals are listed in one message.
const mostApprovals = 10

// approvals says which are pending in a session.
func (s *Sessions) approvals(id string) Text {
	if s.config.Pending == nil {
		return saying("What is pending is not known here.")
	}
	pending := s.config.Pending.Pending(id)
	if len(pending) == 0 {
		return saying("No approval is pending in this session.")
	}
	var said Text
	for i, e := range pending[:min(len(pending), mostApprovals)] {
		if i > 0 {
			said = append(said, Piece{Plain, "\n"})
		}
		said = append(said, listEntry(e)...)
	}
	if more := len(pending) - mostApprovals; more > 0 {
		said = append(said, Piece{Plain, fmt.Sprintf("\n… and %d more.", more)})
	}
	return said
}

// listEntry is an approval in a list.
func listEntry(e api.Entry) Text {
	what := e.Request.Args.Command + e.Request.Args.Code
	return Text{{Code, termsafe.Brief(e.ID, commandLength)}, {Plain, " "}, {Code, termsafe.Brief(strings.TrimSpace(what), commandLength)},
		{Plain, ": " + bailiff.Sentence(lines(e.Message))}}
}
