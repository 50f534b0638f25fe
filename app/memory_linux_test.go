package app

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

var mappedFiles = regexp.MustCompile(`RssFile:\s+(\d+) kB`)

func TestThePagesOfTheProgramGo(t *testing.T) {
	mapped := func() int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getpid()))
		must(t, err)
		kilobytes, err := strconv.Atoi(string(mappedFiles.FindSubmatch(text)[1]))
		must(t, err)
		return kilobytes
	}
	before := mapped()
	dropProgramPages()
	if after := mapped(); after > before/2 {
		t.Errorf("of %d kB of files in memory %d are left, want at most half", before, after)
	}
}
