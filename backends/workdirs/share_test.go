package workdirs_test

import (
	"testing"

	"github.com/bailiff-dev/bailiff/backends/workdirs"
)

func TestSharesOfTheDiskNeverExceedIt(t *testing.T) {
	t.Parallel()
	total := 0
	for _, folder := range workdirs.Writable {
		total += workdirs.ShareMB(10240, folder)
	}
	if total > 10240 || total < 10000 {
		t.Errorf("the shares of 10240 come to %d", total)
	}
}
