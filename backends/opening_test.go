package backends_test

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/backends"
)

func TestWhatIsBeingOpenedIsHeldUntilItIsDone(t *testing.T) {
	var opening backends.Opening
	if opening.Has("a") || opening.Any() {
		t.Error("it holds something before anything has begun")
	}
	done := opening.Begin("a")
	name, named := opening.Name("bailiff-")
	if another, _ := new(backends.Opening).Name("bailiff-"); !strings.HasPrefix(name, "bailiff-") || another == name {
		t.Errorf("the names are %q and %q", name, another)
	}
	if !opening.Has("a") || !opening.Has(name) || opening.Has("b") {
		t.Error("it does not hold what has begun, or holds more")
	}
	done()
	if opening.Has("a") || !opening.Any() {
		t.Error("it holds what is done, or no more what is not")
	}
	if named(); opening.Has(name) || opening.Any() {
		t.Error("it holds something after all is done")
	}
}
