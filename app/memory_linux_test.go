package app

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// mappedFiles are in memory of files on a disk, and of those in a file system that is in memory.
var mappedFiles = regexp.MustCompile(`Rss(?:File|Shmem):\s+(\d+) kB`)

func TestThePagesOfTheProgramGo(t *testing.T) {
	mapped := func() (sum int) {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", os.Getpid()))
		must(t, err)
		for _, found := range mappedFiles.FindAllSubmatch(text, -1) {
			kilobytes, err := strconv.Atoi(string(found[1]))
			must(t, err)
			sum += kilobytes
		}
		return sum
	}
	before := mapped()
	dropProgramPages()
	if after := mapped(); after > before/2 {
		t.Errorf("of %d kB of files in memory %d are left, want at most half", before, after)
	}
}
