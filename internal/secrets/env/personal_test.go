package env

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

// filesOf writes a file for each person.
func filesOf(t *testing.T, texts map[string]string) (files map[string][]string) {
	t.Helper()
	folder, files := t.TempDir(), map[string][]string{}
	for person, text := range texts {
		path := filepath.Join(folder, person+".env")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files[person] = []string{"file:" + path}
	}
	return files
}

func personal(t *testing.T, files map[string][]string) *Personal {
	t.Helper()
	p, err := OpenPersonal(files, "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// revealed is a value, or "none".
func revealed(value bailiff.Secret, ok bool) string {
	if !ok {
		return "none"
	}
	return value.Reveal()
}

func TestAPersonHasTheirOwnValuesAndNoOneElses(t *testing.T) {
	t.Setenv("TOKEN", "of-the-sidecar")
	files := filesOf(t, map[string]string{"ana": "TOKEN=of-ana\n", "ben": "TOKEN=of-ben\nMORE=x\n", "dora": "TOKEN='never closed\n"})
	p := personal(t, files)
	for person, want := range map[string]string{"ana": "of-ana", "ben": "of-ben", "carl": "none", "": "none", "dora": "none"} {
		if got := revealed(p.Value(person, "TOKEN")); got != want {
			t.Errorf("of %q: %s, want %s", person, got, want)
		}
		if got := slices.Contains(p.Available(person, []string{"TOKEN"}), "TOKEN"); got != (want != "none") {
			t.Errorf("of %q it is available: %t", person, got)
		}
	}
	if all := p.Values("TOKEN"); len(all) != 2 {
		t.Errorf("there are %d values", len(all))
	}
	if p.Err() == nil {
		t.Error("a file that cannot be read is no fault")
	}
	if got := revealed((*Personal)(nil).Value("ana", "TOKEN")); got != "none" {
		t.Errorf("without files: %s", got)
	}
}

func TestOtherFilesTakeThePlaceAndWhatWasHandedOutStaysASecret(t *testing.T) {
	t.Parallel()
	p := personal(t, filesOf(t, map[string]string{"ana": "PLACE=somewhere\n", "ben": "TOKEN=of-ben\n"}))
	before := p.Generation()
	if got := revealed(p.Value("ana", "PLACE")); got != "somewhere" {
		t.Fatal(got)
	}
	asked := p.Generation()
	p.Replace(personal(t, filesOf(t, map[string]string{"ana": "PLACE=elsewhere\n"})))
	if after := p.Generation(); asked <= before || after <= asked {
		t.Errorf("the generations are %d, %d and %d", before, asked, after)
	}
	if got := revealed(p.Value("ben", "TOKEN")); got != "none" {
		t.Errorf("of a person without a file: %s", got)
	}
	secrets := map[string]string{}
	for name, value := range p.Secrets() {
		secrets[name] = value.Reveal()
	}
	if len(secrets) != 2 || secrets["PLACE"] != "elsewhere" || secrets["TOKEN"] != "of-ben" {
		t.Errorf("the secrets are %v", secrets)
	}
}
