package trust

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestASecretIsReadOnlyWhileItIsOne(t *testing.T) {
	const ok = ""
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "x", 0o600)
	for _, c := range []struct {
		mode           os.FileMode
		secret, public string
	}{
		{0o600, ok, ok},
		{0o400, ok, ok},
		{0o640, ok, ok},
		{0o644, "chmod g-w,o= " + path, ok},
		{0o604, "holds a secret", ok},
		{0o660, "holds a secret", "others may write"},
		{0o602, "holds a secret", "others may write"},
	} {
		must(t, os.Chmod(path, c.mode))
		for kind, read := range map[string]struct {
			file func(string) ([]byte, error)
			want string
		}{"secret": {Secret, c.secret}, "public": {Public, c.public}} {
			text, err := read.file(path)
			if (err == nil) != (read.want == ok) || err == nil && string(text) != "x" || err != nil &&
				!strings.Contains(err.Error(), read.want) {
				t.Errorf("with mode %04o the %s file is %q, %v, want %q", c.mode, kind, text, err, read.want)
			}
		}
	}
}

func TestWhatIsNoFileOfOnesOwnIsNotRead(t *testing.T) {
	folder := t.TempDir()
	pipe, big, theirs := filepath.Join(folder, "pipe"), filepath.Join(folder, "big"), filepath.Join(folder, "theirs")
	must(t, syscall.Mkfifo(pipe, 0o600))
	write(t, big, "", 0o600)
	must(t, os.Truncate(big, largest+1))
	want := map[string]string{folder: "no regular file", pipe: "no regular file", big: "more than",
		filepath.Join(folder, "none"): "no such file"}
	if os.Geteuid() == 0 {
		write(t, theirs, "x", 0o600)
		must(t, os.Chown(theirs, 12345, -1))
		want[theirs] = "belongs to uid 12345"
	}
	for path, fault := range want {
		for _, read := range []func(string) ([]byte, error){Secret, Public} {
			if _, err := read(path); err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("reading %s says %v, want %q", path, err, fault)
			}
		}
	}
}

func TestAFileThatOthersCouldReplaceIsNotRead(t *testing.T) {
	folder := t.TempDir()
	path, linked := filepath.Join(folder, "f"), filepath.Join(t.TempDir(), "l")
	write(t, path, "x", 0o600)
	must(t, os.Symlink(path, linked))
	for mode, want := range map[os.FileMode]string{0o777: "others may write " + folder, 0o770: "others may write " + folder,
		0o777 | os.ModeSticky: "", 0o755: ""} {
		must(t, os.Chmod(folder, mode))
		for _, read := range []func(string) ([]byte, error){Secret, Public} {
			for _, name := range []string{path, linked} {
				if _, err := read(name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("in a folder of mode %v reading %s says %v, want %q", mode, name, err, want)
				}
			}
		}
	}
}
