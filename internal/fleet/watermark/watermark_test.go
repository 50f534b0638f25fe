package watermark_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/fleet/watermark"
)

func TestAMarkIsReadAsItWasWrittenOrNotAtAll(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mark")
	file, kept := watermark.File(path), watermark.Mark{Replica: "one", Number: 7}
	if m, err := file.Read(); m != (watermark.Mark{}) || err != nil {
		t.Errorf("before there is one: %+v, %v", m, err)
	}
	if err := file.Write(kept); err != nil {
		t.Fatal(err)
	}
	if m, err := file.Read(); m != kept || err != nil {
		t.Errorf("read %+v, %v", m, err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"empty": "", "cut": string(good[:20]), "twice": string(good) + string(good),
		"an older number": strings.Replace(string(good), ":7", ":6", 1), "no mark": `{"mark":{},"sum":""}`,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if m, err := file.Read(); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %+v, %v", what, m, err)
		}
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(); err == nil {
		t.Error("a file that others may write is read")
	}
}

func TestWithoutAFileNoMarkIsKept(t *testing.T) {
	t.Parallel()
	var none watermark.File
	if err := none.Write(watermark.Mark{Replica: "one", Number: 1}); err != nil {
		t.Fatal(err)
	}
	if m, err := none.Read(); m != (watermark.Mark{}) || err != nil {
		t.Errorf("read %+v, %v", m, err)
	}
}
