package index

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestTheIndexHasWhatPeopleInstall(t *testing.T) {
	for name, want := range map[string]Kind{
		"ls": Reads, "helm": Administers, "ruff": Builds, "nmap": ScansOrAttacks, "useradd": Administers,
		"cowsay": Plays, "": "", "unheard-of": "", "lss": "", strings.Repeat("x", 300): "", "\x00": "", "\xff": "",
	} {
		if got := Of(name); got != want {
			t.Errorf("%q is of the kind %q, want %q", name, got, want)
		}
	}
	if len(shipped) > 1<<20 {
		t.Errorf("the index has %d bytes, which makes every program larger: want 1 MiB at most", len(shipped))
	}
	for _, part := range []string{"Sources:", "Made by make program-index on 20", "Rules:", "Licence:"} {
		if !strings.Contains(Head(), part) {
			t.Errorf("the head has no %q: %s", part, Head())
		}
	}
}

func TestALookUpTakesNoMemory(t *testing.T) {
	if n := testing.AllocsPerRun(100, func() { Of("terraform"); Of("unheard-of") }); n != 0 {
		t.Errorf("a look-up makes %v allocations", n)
	}
}

// Every name of an index is found in it, and no other.
func TestAnIndexHasExactlyItsNames(t *testing.T) {
	names := map[string]Kind{"a": Reads, strings.Repeat("z", maxName): Other}
	for i := range 3000 {
		names["p"+strings.Repeat("r", i%7)+string(rune('a'+i%26))+strings.Repeat("q", i/26)[:min(i/26, 100)]] = kinds[i%len(kinds)]
	}
	file, err := Write("A head.", names)
	if err != nil {
		t.Fatal(err)
	}
	f, err := read(string(file))
	if err != nil || f.head != "A head." {
		t.Fatalf("the head is %q: %v", f.head, err)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if got := f.of(name); got != names[name] {
			t.Errorf("%q is of the kind %q, want %q", name, got, names[name])
		}
		for _, near := range []string{name + "a", name[:len(name)-1], "A" + name} {
			if f.of(near) != names[near] {
				t.Errorf("%q is of the kind %q, want %q", near, f.of(near), names[near])
			}
		}
	}
}

func TestWhatIsNoIndexIsRefused(t *testing.T) {
	for _, text := range []string{"", "A head.", "A head.\n\n", "A head.\n\n\x00\x00\x00\x02\x00"} {
		if _, err := read(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	for name, kind := range map[string]Kind{"": Reads, "a": "unheard-of", strings.Repeat("a", 256): Reads} {
		if _, err := Write("A head.", map[string]Kind{name: kind}); err == nil {
			t.Errorf("%q of the kind %q was written", name, kind)
		}
	}
	if _, err := Write("A\n\nhead.", nil); err == nil {
		t.Error("a head with an empty line was written")
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		Of("terraform")
		Of("unheard-of")
	}
}
