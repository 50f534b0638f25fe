package contents

import (
	"context"
	"errors"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// folder holds files by their paths: a text, or how old what cannot be read is.
type folder map[string]bailiff.Content

func (s folder) Read(_ context.Context, _, path string, most int) (bailiff.Content, error) {
	c, ok := s[path]
	switch {
	case !ok:
		return bailiff.Content{File: bailiff.File{Path: path}, Kind: bailiff.ContentMissing}, nil
	case c.Kind != bailiff.ContentText:
		return bailiff.Content{}, errors.New("no plain file")
	case len(c.Text) > most:
		c.Kind, c.Text = bailiff.ContentUnread, ""
	}
	c.Path = path
	return c, nil
}

func (s folder) Match(context.Context, string, string, []string) (paths []string, all bool, err error) {
	return []string{"a"}, len(s) > 0, nil
}

// A file beyond the bounds of texts is as old as it is: only a young one may be anything.
func TestOfFilesBeyondTheBoundsOfTextsTheAgeIsFound(t *testing.T) {
	t.Parallel()
	text := func(recent bool) bailiff.Content {
		return bailiff.Content{Kind: bailiff.ContentText, Text: "ls", Recent: recent}
	}
	files := folder{"old": text(false), "young": text(true), "device": {}}
	all := Budget{Bytes: 100, Files: 1, Looks: 1}
	for name, c := range map[string]struct {
		left         Budget
		path         string
		recent, read bool
	}{
		"an old file":                    {all, "old", false, true},
		"a young file":                   {all, "young", true, true},
		"an old file beyond the number":  {Budget{100, 0, 1}, "old", false, false},
		"a young one beyond the number":  {Budget{100, 0, 1}, "young", true, false},
		"an old file beyond the bytes":   {Budget{1, 1, 1}, "old", false, false},
		"an old file beyond the looks":   {Budget{100, 1, 0}, "old", true, false},
		"one that is not there, beyond":  {Budget{100, 0, 1}, "missing", false, false},
		"what is no plain file":          {all, "device", true, false},
		"a pattern beyond the number":    {Budget{100, 0, 1}, "*.sh", false, false},
		"a pattern beyond the looks":     {Budget{100, 1, 0}, "*.sh", true, false},
		"a name that is open altogether": {all, "$X/a", false, false},
	} {
		got, _, err := c.left.Find(t.Context(), files, "", c.path)
		if err != nil || got.Recent != c.recent || (got.Kind == bailiff.ContentText) != c.read {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
