package auditlog

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/record/audit"
)

func TestVerifySaysFromWhichLineOnALogIsWholeThatLostItsOldestFiles(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	printVerification(&printed, audit.Report{Lines: 5, Segments: 2, Retired: 3})
	const want = "5 lines in 2 files: as they were written\nretention removed the 3 lines before them: the log is whole from line 4 on\n"
	if printed.String() != want {
		t.Errorf("verify prints %q, want %q", printed.String(), want)
	}
}
