package rows

import (
	"strings"
	"testing"
)

// The digest is that of "terminal", a line's end and "allow".
const labelled = `{"sha256":"b62aea35fd5d8e41a7253e77b4fa0bb3afd8ca2eb7bc560e81532b2a1c225acb","want":"ask"}`

func TestLabelsSayWhatIsWantedOfTextsByTheirDigests(t *testing.T) {
	t.Parallel()
	labels, err := ReadLabels(strings.NewReader(labelled), "labels.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	run := &Run{Judge: echoing{}, Labels: labels}
	rows := `{"tool":"terminal","text":"allow"}` + "\n" + `{"tool":"terminal","text":"allow","want":"allow"}` + "\n" +
		`{"tool":"execute_code","text":"allow"}`
	if err := run.Add(t.Context(), strings.NewReader(rows), "some.jsonl"); err != nil {
		t.Fatal(err)
	}
	if got := run.Report(); got.Rows != 3 || got.Dangerous != 1 || got.Harmless != 1 || got.LetThrough != 1 {
		t.Errorf("got %+v, want one row that is let through, one that is harmless and one without a label", got)
	}
}

func TestALabelThatSaysNothingIsNamed(t *testing.T) {
	t.Parallel()
	for line, says := range map[string]string{
		`[]`:                                         "no JSON object",
		`{"sha256":"ab","want":"ask"}`:               "want 64 digits",
		`{"sha256":"zz","want":"ask"}`:               "want 64 digits",
		labelled[:len(labelled)-5] + `"}`:            "want is",
		strings.Replace(labelled, "ask", "asked", 1): `nearest valid word is "ask"`,
	} {
		_, err := ReadLabels(strings.NewReader(labelled+"\n"+line), "labels.jsonl")
		if err == nil || !strings.HasPrefix(err.Error(), "labels.jsonl:2: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want the place and %q", line, err, says)
		}
	}
}
