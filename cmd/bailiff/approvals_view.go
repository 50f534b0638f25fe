package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway"
	"github.com/bailiff-dev/bailiff/gateway/client"
	"github.com/bailiff-dev/bailiff/internal/approval"
	"github.com/bailiff-dev/bailiff/internal/termsafe"
)

// view is the live view: what waits, what is selected of it, and what is being
// typed.
type view struct {
	door *client.Client
	size func() (width, height int)

	loaded  bool
	pending []approval.Entry
	// selected is an id: it stays with what was seen, whatever comes and goes.
	selected string
	shown    gateway.ShownApproval
	// cut says that not all of the selected one was on the screen; armed is the
	// key that was pressed once for it.
	cut   bool
	armed rune
	// ask is what is being asked for, typed what was typed so far.
	ask   asking
	typed []rune
	// session is the one whose freeze is asked for.
	session string
	note    string
}

type asking int

const (
	forKey asking = iota
	forReason
	forFreeze
)

// Keys that are no characters.
const (
	keyUp rune = utf8.MaxRune + 1 + iota
	keyDown
	keyEscape
)

const (
	keyInterrupt = '\x03'
	keyEnd       = '\x04'
	keyBackspace = '\x7f'
)

// keysOf reads a terminal's keys until it is closed. An escape sequence comes in
// one piece.
func keysOf(ctx context.Context, in *os.File) <-chan rune {
	keys := make(chan rune)
	go func() {
		defer close(keys)
		buf := make([]byte, 256)
		for {
			n, err := in.Read(buf)
			if err != nil {
				return
			}
			for _, key := range keysIn(buf[:n]) {
				select {
				case keys <- key:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return keys
}

// keysIn are the keys of a piece that was read.
func keysIn(piece []byte) (keys []rune) {
	for text := string(piece); text != ""; {
		sequence := escapeSequence(text)
		switch {
		case sequence == "\x1b[A" || sequence == "\x1bOA":
			keys = append(keys, keyUp)
		case sequence == "\x1b[B" || sequence == "\x1bOB":
			keys = append(keys, keyDown)
		case sequence == "\x1b":
			keys = append(keys, keyEscape)
		case sequence == "":
			r, size := utf8.DecodeRuneInString(text)
			keys, sequence = append(keys, r), text[:size]
		}
		text = text[len(sequence):] // other sequences are keys that mean nothing here
	}
	return keys
}

// escapeSequence is the one that a text begins with, or the escape key alone;
// empty if it begins with neither.
func escapeSequence(text string) string {
	if !strings.HasPrefix(text, "\x1b") {
		return ""
	}
	if len(text) < 3 || (text[1] != '[' && text[1] != 'O') {
		return text[:1]
	}
	for i := 2; i < len(text); i++ {
		if text[i] >= '@' && text[i] <= '~' {
			return text[:i+1]
		}
	}
	return text
}

// press takes a key; left says that the view is to be left.
func (v *view) press(ctx context.Context, key rune) (left bool) {
	if key == keyInterrupt || key == keyEnd {
		return true
	}
	switch v.ask {
	case forReason:
		v.pressReason(ctx, key)
	case forFreeze:
		v.pressFreeze(ctx, key)
	default:
		return v.pressCommand(ctx, key)
	}
	return false
}

func (v *view) pressCommand(ctx context.Context, key rune) (left bool) {
	armed := v.armed
	v.armed, v.note = 0, ""
	switch {
	case key == 'q':
		return true
	case key == 'j' || key == keyDown:
		v.choose(ctx, v.at()+1)
	case key == 'k' || key == keyUp:
		v.choose(ctx, max(v.at(), 1)-1)
	case key >= '1' && key <= '9':
		v.choose(ctx, int(key-'1'))
	case !strings.ContainsRune("aswdf", key):
	case v.at() < 0:
		v.note = "Select one first, by j, k or its number."
	case key == 'd':
		v.ask, v.typed = forReason, nil
	case key == 'f':
		v.ask, v.session = forFreeze, v.pending[v.at()].Request.Session.ID
	case v.cut && armed != key:
		v.armed = key
		v.note = fmt.Sprintf("Not all of it fits here. Read it by \"bailiff approvals show %s\"; %c once more approves it.", v.selected, key)
	default:
		v.approve(ctx, map[rune]string{'a': bailiff.ScopeOnce, 's': bailiff.ScopeSession, 'w': bailiff.ScopeAlways}[key])
	}
	return false
}

func (v *view) pressReason(ctx context.Context, key rune) {
	switch {
	case key == keyEscape:
		v.ask, v.note = forKey, "Not denied."
	case key == '\r' || key == '\n':
		v.ask = forKey
		v.deny(ctx, string(v.typed))
	case key == keyBackspace || key == '\b':
		v.typed = v.typed[:max(len(v.typed), 1)-1]
	case termsafe.Seen(key):
		v.typed = append(v.typed, key)
	}
}

func (v *view) pressFreeze(ctx context.Context, key rune) {
	v.ask, v.note = forKey, "Not frozen."
	if key != 'y' && key != 'Y' {
		return
	}
	_, err := v.door.Freeze(ctx, gateway.Freezing{Kind: approval.FreezeSession, ID: v.session})
	v.noted("Frozen: session "+termsafe.Text(v.session)+".", err)
}

func (v *view) approve(ctx context.Context, scope string) {
	e, err := v.door.Approve(ctx, v.selected, scope)
	v.answered(ctx, e, err)
}

func (v *view) deny(ctx context.Context, reason string) {
	if v.at() < 0 {
		v.note = "It waits no more."
		return
	}
	e, err := v.door.Deny(ctx, v.selected, reason)
	v.answered(ctx, e, err)
}

func (v *view) answered(ctx context.Context, e approval.Entry, err error) {
	if err == nil {
		v.take(ctx, e)
	}
	v.noted(e.ID+": "+termsafe.Text(e.Message), err)
}

func (v *view) noted(done string, err error) {
	if v.note = done; err != nil {
		v.note = termsafe.Text(err.Error())
	}
}

// at is where the selected one stands; -1 if none is.
func (v *view) at() int {
	return slices.IndexFunc(v.pending, func(e approval.Entry) bool { return e.ID == v.selected })
}

// choose selects the nth, if there is one.
func (v *view) choose(ctx context.Context, n int) {
	if n < 0 || n >= len(v.pending) {
		return
	}
	v.selected = v.pending[n].ID
	shown, err := v.door.Approval(ctx, v.selected)
	if err != nil {
		v.selected = ""
		v.noted("", err)
		return
	}
	v.shown = shown
}

// take puts an approval as it is now into the list, or out of it. What is
// selected stays so; if it is gone, nothing is.
func (v *view) take(ctx context.Context, e approval.Entry) {
	n := slices.IndexFunc(v.pending, func(other approval.Entry) bool { return other.ID == e.ID })
	switch {
	case e.State != bailiff.ApprovalPending && n >= 0:
		v.pending = slices.Delete(v.pending, n, n+1)
		if v.selected == e.ID {
			v.selected = ""
			v.note = e.ID + ": " + termsafe.Text(e.Message)
		}
	case e.State == bailiff.ApprovalPending && n >= 0:
		v.pending[n] = e
		if v.selected == e.ID {
			v.choose(ctx, n)
		}
	case e.State == bailiff.ApprovalPending:
		v.pending = append(v.pending, e)
	}
}

// wiped is a screen with nothing on it.
const wiped = "\x1b[H\x1b[2J"

// draw is the whole screen. The list has a third of it, the selected one the rest.
func (v *view) draw() string {
	width, height := v.size()
	lines := []string{fmt.Sprintf("%d wait for approval, %s", len(v.pending), time.Now().Format(time.TimeOnly))}
	lines = append(lines, v.list(max(height/3, 3))...)
	lines = append(lines, "")
	room := max(height-len(lines)-2, 1)
	details := v.details(width)
	v.cut = len(details) > room
	if v.cut {
		details = append(details[:room-1], fmt.Sprintf("… %d more lines: bailiff approvals show %s", len(details)-room+1, v.selected))
	}
	lines = append(lines, details...)
	for len(lines) < height-2 {
		lines = append(lines, "")
	}
	lines = append(lines, v.note, v.prompt())
	for i := range lines {
		lines[i] = clipped(lines[i], width)
	}
	return wiped + strings.Join(lines, "\r\n")
}

// list is the part of the list around what is selected.
func (v *view) list(room int) (lines []string) {
	from := max(0, min(v.at()-room/2, len(v.pending)-room))
	for n := from; n < min(from+room, len(v.pending)); n++ {
		e := v.pending[n]
		mark := " "
		if e.ID == v.selected {
			mark = ">"
		}
		lines = append(lines, fmt.Sprintf("%s%2d  %s  %7s  %s  %s", mark, n+1, e.ID, left(e), account(e.Request.Session), what(e.Request, 200)))
	}
	return lines
}

// details are the selected one's, in lines that fit.
func (v *view) details(width int) (lines []string) {
	if v.at() < 0 {
		return nil
	}
	var text strings.Builder
	if err := printApproval(&text, v.shown, inverse); err != nil {
		return []string{termsafe.Text(err.Error())}
	}
	for line := range strings.Lines(text.String()) {
		lines = append(lines, wrapped(strings.TrimSuffix(line, "\n"), width)...)
	}
	return lines
}

func (v *view) prompt() string {
	switch v.ask {
	case forReason:
		return "why not (Enter denies, Escape does not): " + string(v.typed)
	case forFreeze:
		return "freeze session " + termsafe.Text(v.session) + ", stop what it runs and deny what comes? y/n"
	}
	return "a approve once  s session  w always  d deny  f freeze  j/k/1-9 select  q quit"
}

// clipped is what fits into a line of the screen.
func clipped(line string, width int) string { return wrapped(line, width)[0] }

// wrapped cuts a line into pieces as wide as the screen; marks take no room.
func wrapped(line string, width int) (pieces []string) {
	begin, used := 0, 0
	for at := 0; at < len(line); {
		size, wide := partOf(line[at:])
		if wide > 0 && used > 0 && used+wide > width {
			pieces = append(pieces, line[begin:at])
			begin, used = at, 0
		}
		at, used = at+size, used+wide
	}
	return marked(append(pieces, line[begin:]))
}

// marked ends a mark that is open at a piece's end, and opens it again in the next.
func marked(pieces []string) []string {
	open := false
	for i, piece := range pieces {
		if open {
			piece = inverse.begin + piece
		}
		if open = strings.LastIndex(piece, inverse.begin) > strings.LastIndex(piece, inverse.end); open {
			piece += inverse.end
		}
		pieces[i] = piece
	}
	return pieces
}

// partOf is how many bytes a mark or character has that a line begins with, and
// how many columns it takes.
func partOf(line string) (size, wide int) {
	for _, mark := range []string{inverse.begin, inverse.end} {
		if strings.HasPrefix(line, mark) {
			return len(mark), 0
		}
	}
	r, size := utf8.DecodeRuneInString(line)
	return size, columns(r)
}

// columns is how wide a character is on a terminal; too much rather than too
// little, so that no line is longer than it seems.
func columns(r rune) int {
	if r < 0x300 {
		return 1
	}
	return 2
}
