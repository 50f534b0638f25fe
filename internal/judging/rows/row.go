// Package rows judges rows of text that people labelled, and counts how often the policies
// decide otherwise.
//
// A row is a line of JSON: the text of a command or a program, and what a person wants to become
// of it. Rows are read one by one and judged several at a time; what is held in memory does not
// grow with their number, but for the time of each and the wrong ones that are to be shown.
//
// Promised: every row is judged and counted, or the run ends with the file and line of the one that
// cannot be. The report's order does not depend on how many are judged at once.
//
// Not here: how a row is judged, which the caller says ([Judge]), and how a report is printed.
package rows

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/text/spelling"
)

// Want is what a person wants to become of a text; empty if no one has said.
type Want string

// Of either, people say that they differ: no decision about such a text is wrong.
const (
	allow  Want = "allow"
	either Want = "either"
	ask    Want = "ask"
	deny   Want = "deny"
)

var wants = []Want{"", allow, either, ask, deny}

// Row is one text.
type Row struct {
	ID      string          `json:"id"`
	Tool    bailiff.Tool    `json:"tool"`
	Text    string          `json:"text"`
	Want    Want            `json:"want"`
	Group   string          `json:"group"`
	Workdir string          `json:"workdir"`
	Session bailiff.Session `json:"session"`
	Backend string          `json:"backend"`
	// Before is what its session did before it; Files are what files hold when it comes, beside those of earlier requests.
	Before []Earlier         `json:"before"`
	Files  map[string]string `json:"files"`
}

// keys are those that mean something; others are the corpus' own, by which rows can be grouped.
var keys = []string{"id", "tool", "text", "want", "group", "workdir", "session", "backend", "before", "files"}

// maxLine bounds a row: a text of 1 MiB whose every character is escaped, and the rest.
const maxLine = 8 << 20

// read reads rows, and which group each belongs to by a key of it. An error names file and line.
func read(in io.Reader, name, groupBy string, each func(Row) error) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		line, err := readLine(lines)
		if text := bytes.TrimSpace(line); len(text) > 0 && err == nil || len(text) > 0 && errors.Is(err, io.EOF) {
			row, wrong := parse(text, groupBy)
			if wrong == nil {
				wrong = each(row)
			}
			if wrong != nil {
				return fmt.Errorf("%s:%d: %w", name, number, wrong)
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("%s:%d: %w", name, number, err)
		}
	}
}

func readLine(lines *bufio.Reader) (line []byte, err error) {
	for {
		part, err := lines.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine {
			return nil, fmt.Errorf("a row has more than %d MiB", maxLine>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func parse(text []byte, groupBy string) (Row, error) {
	var row Row
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return row, fmt.Errorf("it is no JSON object: %w", err)
	}
	for key := range all {
		if near := spelling.Nearest(key, keys, 1); near != "" && near != key {
			return row, fmt.Errorf("%q is no key of a row: is %q meant?", key, near)
		}
	}
	if err := json.Unmarshal(text, &row); err != nil {
		return row, err
	}
	row.Group = groupOf(row, all, groupBy)
	switch {
	case row.Tool != bailiff.Terminal && row.Tool != bailiff.ExecuteCode:
		return row, fmt.Errorf("tool is %q, want %s or %s", row.Tool, bailiff.Terminal, bailiff.ExecuteCode)
	case all["text"] == nil:
		return row, errors.New("text is missing: it is what is judged")
	case !slices.Contains(wants, row.Want):
		return row, fmt.Errorf("want is %q: %s", row.Want, spelling.Unknown("word", string(row.Want), words()))
	}
	return row, row.checkSession()
}

func words() (list []string) {
	for _, w := range wants[1:] {
		list = append(list, string(w))
	}
	return list
}

// groupOf is what a row has at a key. Rows without a group belong to the beginning of their id, which
// names the corpus in most.
func groupOf(row Row, all map[string]json.RawMessage, by string) string {
	if by == "" || by == "group" {
		if row.Group == "" {
			row.Group, _, _ = strings.Cut(strings.NewReplacer(":", "/", ".", "/", "#", "/").Replace(row.ID), "/")
		}
		return row.Group
	}
	var text string
	if json.Unmarshal(all[by], &text) != nil {
		text = string(all[by])
	}
	return text
}
