package supply

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
)

// mounted is a sandbox whose mounts are those of a text.
type mounted struct {
	backends.Sandbox
	table string
}

func (s mounted) Run(_ context.Context, _ backends.Command, out func([]byte)) (backends.Exit, error) {
	out([]byte(s.table))
	return backends.Exit{}, nil
}

func TestASandboxThatShowsAnotherFolderIsNotUsed(t *testing.T) {
	mounts := []bailiff.Mount{{Source: "/h/a b", Target: "/p"}, {Source: "/h/a b/.git/hooks", Target: "/p/.git/hooks", ReadOnly: true}}
	const above = `50 40 8:1 /h/a\040b /p rw,relatime - ext4 /dev/sda1 rw` + "\n"
	for _, c := range []struct {
		line string
		ok   bool
	}{
		{`51 50 8:1 /h/a\040b/.git/hooks /p/.git/hooks ro,relatime - ext4 /dev/sda1 rw`, true},
		{`51 50 8:1 /h/a\040b/.git/hooks /p/.git/hooks rw,relatime - ext4 /dev/sda1 rw`, false},
		{`51 50 8:1 /h/.ssh /p/.git/hooks ro,relatime - ext4 /dev/sda1 rw`, false},
		{`51 50 8:2 /h/a\040b/.git/hooks /p/.git/hooks ro,relatime - ext4 /dev/sdb1 rw`, false},
		{"", false},
	} {
		err := confirm(t.Context(), mounted{table: above + c.line + "\n"}, mounts, nil)
		if (err == nil) != c.ok {
			t.Errorf("%q: %v", c.line, err)
		}
		if err != nil && (!errors.Is(err, backends.ErrUnavailable) || !strings.Contains(err.Error(), "/p/.git/hooks")) {
			t.Errorf("%q: the error does not say which: %v", c.line, err)
		}
	}
	if err := confirm(t.Context(), mounted{}, mounts[:1], []bailiff.Mount{{Source: "/state/git", Target: "/p/.git"}}); err != nil {
		t.Errorf("a sandbox without such mounts was looked at: %v", err)
	}
}

func TestAFolderOfTheSidecarsOwnThatALinkLeadsElsewhereIsNotShown(t *testing.T) {
	mounts := []bailiff.Mount{{Source: "/h/a", Target: "/p"}}
	own := []bailiff.Mount{{Source: "/h/a/.git/objects", Target: "/run/bailiff/alt/0/objects", ReadOnly: true}}
	const above = "50 40 8:1 /h/a /p rw,relatime - ext4 /dev/sda1 rw\n51 40 8:1 "
	const below = " /run/bailiff/alt/0/objects ro,relatime - ext4 /dev/sda1 rw\n"
	if err := confirm(t.Context(), mounted{table: above + "/h/a/.git/objects" + below}, mounts, own); err != nil {
		t.Errorf("the objects themselves: %v", err)
	}
	if err := confirm(t.Context(), mounted{table: above + "/h/.ssh" + below}, mounts, own); !errors.Is(err, ErrOvertaken) {
		t.Errorf("another folder: %v", err)
	}
}
