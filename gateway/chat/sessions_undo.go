package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
	"github.com/bailiff-dev/bailiff/internal/text/termsafe"
)

// isUndo says whether a text is the command to put something back.
func isUndo(text string) bool {
	words := strings.Fields(text)
	return len(words) > 0 && words[0] == slashUndo
}

// mayUndo says whether a message is of a person who may have put back what commands changed, and asks for it.
func (s *Sessions) mayUndo(said Said) bool {
	return s.config.Undoer != nil && said.By.ID != "" && isUndo(said.Text) && s.config.Undoer.May(said.By.ID) == nil
}

// undoTimeout is how long an undoing may take.
const undoTimeout = 5 * time.Minute

// forces are the words for putting back what changed since, too. Phones make one dash of two.
var forces = []string{"--force", "—force", "–force"}

// undo puts back what a command changed, and says what became of each file.
func (s *Sessions) undo(said Said, text string) {
	ctx, cancel := context.WithTimeout(s.runCtx, undoTimeout)
	defer cancel()
	words := strings.Fields(text)[1:]
	how := api.Undoing{Force: slices.ContainsFunc(words, func(w string) bool { return slices.Contains(forces, w) })}
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(forces, w) })
	answer := Text{{Plain, "Say which command: "}, {Code, slashUndo + " ID"}, {Plain, ". Its answer names the id."}}
	switch {
	case s.config.Undoer == nil:
		answer = saying("Nothing is put back here.")
	case len(words) > 0:
		how.Paths = words[1:]
		undone, err := s.config.Undoer.Undo(ctx, said.By.ID, words[0], how)
		answer = undoneText(words[0], undone)
		if err != nil {
			answer = s.undoRefusal(words[0], undone, err)
		}
	}
	speaking, stop := s.sendContext(replyTimeout)
	defer stop()
	s.reply(speaking, said, answer)
}

// undoRefusal says why not all was put back. What is no refusal is for the log to say.
func (s *Sessions) undoRefusal(id string, undone api.Undone, err error) Text {
	why := bailiff.Sentence(bailiff.Foreign(err.Error()))
	if !errors.Is(err, api.ErrIneligible) && !errors.Is(err, api.ErrUnknown) {
		s.config.Log.Error("an undoing by chat failed", "platform", s.config.Platform, "command", id, "error", err)
	}
	if len(undone.Restored)+len(undone.Left)+len(undone.Failed) == 0 {
		return Text{{Strong, "Nothing was put back. "}, {Plain, why}}
	}
	return append(undoneText(id, undone), Piece{Strong, "\nIt broke off. "}, Piece{Plain, why})
}

// undoneText says what an undoing did.
func undoneText(id string, undone api.Undone) (said Text) {
	if len(undone.Restored)+len(undone.Left)+len(undone.Failed) == 0 {
		return saying("All is as it was before that command.")
	}
	said = fileList(said, "As before", undone.Restored)
	if said = fileList(said, "Left, since they changed after the command", undone.Left); len(undone.Left) > 0 {
		said = append(said, Piece{Plain, " "}, Piece{Code, slashUndo + " " + id + " --force"}, Piece{Plain, " puts these back, too."})
	}
	if said = fileList(said, "Not put back", undone.Failed); len(undone.Restored) > 0 {
		said = append(said, Piece{Plain, "\n"}, Piece{Code, slashUndo + " " + undone.ID}, Piece{Plain, " takes this back."})
	}
	return said
}

// mostFiles are listed of a kind.
const mostFiles = 10

func fileList(said Text, title string, names []string) Text {
	if len(names) == 0 {
		return said
	}
	if len(said) > 0 {
		said = append(said, Piece{Plain, "\n"})
	}
	said = append(said, Piece{Strong, title + ": "})
	for i, name := range names[:min(len(names), mostFiles)] {
		if i > 0 {
			said = append(said, Piece{Plain, ", "})
		}
		said = append(said, Piece{Code, termsafe.Brief(name, commandLength)})
	}
	if more := len(names) - mostFiles; more > 0 {
		said = append(said, Piece{Plain, fmt.Sprintf(" and %d more", more)})
	}
	return append(said, Piece{Plain, "."})
}
