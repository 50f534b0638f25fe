package word_test

import (
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff/internal/facts/shell/word"
	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func TestWhatIsMadeOfValuesKeepsTheirTaint(t *testing.T) {
	t.Parallel()
	fetched := value.Taint{Fetched: true}
	unknown := word.Word{Text: "$x", Taint: fetched}
	if w := word.Join([]word.Word{word.Of("a"), unknown}, "-"); w.Known || w.Text != "a-$x" || !w.Fetched {
		t.Errorf("joined with an unknown word: %+v", w)
	}
	if w := word.Join([]word.Word{word.Of("a"), word.Of("b")}, "-"); !w.Known || w.Text != "a-b" || w.Fetched {
		t.Errorf("joined of known words: %+v", w)
	}
	if s := word.Literal("a").Then(word.Unknown(fetched)); s.Known || !s.Fetched {
		t.Errorf("written after a known text: %+v", s)
	}
	if w := word.Part(unknown, "x"); !w.Fetched {
		t.Errorf("a part: %+v", w)
	}
}

func TestAStreamIsNotLongerThanWhatIsFollowed(t *testing.T) {
	t.Parallel()
	half := word.Literal(strings.Repeat("a", word.MaxValue/2))
	if s := half.Then(half); !s.Known || s.Truncated {
		t.Error("two halves do not fit")
	}
	if s := half.Then(half).Then(word.Literal("aa")); s.Known || !s.Truncated || s.Text != "" {
		t.Errorf("more than fits is known: %d", len(s.Text))
	}
}

func TestEitherOfTwoStreamsIsBoth(t *testing.T) {
	t.Parallel()
	disk := word.Literal("rm x")
	disk.OnDisk, disk.Settled = true, true
	if s := disk.Either(word.Literal("ls")); s.Text != "rm x\nls" || s.OnDisk || s.Settled {
		t.Errorf("a text and one of the disk: %+v", s)
	}
	if s := disk.Either(word.Unknown(value.Taint{})); s.Known {
		t.Errorf("with an unknown one: %+v", s)
	}
}
