package securitykey

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	site   = "bailiff.example.com"
	origin = "https://bailiff.example.com:8642"
)

func open(t *testing.T, dir string) *Keys {
	t.Helper()
	keys, err := Open(dir, slog.New(slog.DiscardHandler))
	must(t, err)
	return keys
}

// register registers a key of a person, and returns its id.
func register(t *testing.T, keys *Keys, person string, k *softKey) string {
	t.Helper()
	options, c, err := keys.Register(person, fmt.Sprintf("key %x", k.id[:4]), site, origin, true)
	must(t, err)
	made, err := c(k.create(t, site, challengeOf(t, options), origin))
	must(t, err)
	return made.ID
}

func ask(t *testing.T, keys *Keys, person string) (challenge string, end func([]byte) (string, error)) {
	t.Helper()
	options, end, err := keys.Ask(person, site, origin)
	must(t, err)
	return challengeOf(t, options), end
}

func TestAKeyProvesWhoHasRegisteredItAfterARestartToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, k := open(t, dir), newSoftKey(t)
	id := register(t, keys, "ana", k)
	keys = open(t, dir)
	for range 2 {
		challenge, c := ask(t, keys, "ana")
		if by, err := c(k.get(t, site, challenge, origin)); err != nil || by != id {
			t.Fatalf("proved by %s, %v", by, err)
		}
	}
	all, err := keys.List("ana")
	must(t, err)
	if len(all) != 1 || all[0].Used.Before(all[0].Added) || all[0].Copied {
		t.Errorf("she has %+v", all)
	}
	must(t, keys.Remove("ana", id))
	if _, _, err := keys.Ask("ana", site, origin); !errors.Is(err, ErrRefused) {
		t.Errorf("after its removal: %v", err)
	}
}

func TestWhatAKeySaysCountsForItsQuestionOnly(t *testing.T) {
	t.Parallel()
	keys, anas, bens := open(t, t.TempDir()), newSoftKey(t), newSoftKey(t)
	register(t, keys, "ana", anas)
	register(t, keys, "ben", bens)
	otherChallenge, _ := ask(t, keys, "ana")
	for name, c := range map[string]struct {
		says  func(challenge string) []byte
		lasts time.Duration
		why   string
	}{
		"another question's challenge": {says: func(string) []byte { return anas.get(t, site, otherChallenge, origin) },
			why: "challenge"},
		"another origin": {says: func(c string) []byte { return anas.get(t, site, c, "https://evil.example.com") }, why: "origin"},
		"the same host at another port": {says: func(c string) []byte {
			return anas.get(t, site, c, "https://bailiff.example.com:9000")
		}, why: "origin"},
		"another site": {says: func(c string) []byte { return anas.get(t, "example.com", c, origin) },
			why: "validating the authenticator response"},
		"another person's key": {says: func(c string) []byte { return bens.get(t, site, c, origin) }, why: "credential"},
		"a key of no person": {says: func(c string) []byte { return newSoftKey(t).get(t, site, c, origin) },
			why: "credential"},
		"another key's signature": {says: func(c string) []byte {
			forger := newSoftKey(t)
			forger.id, forger.counter = anas.id, 100
			return forger.get(t, site, c, origin)
		}, why: "signature"},
		"a question that is too old": {says: func(c string) []byte { return anas.get(t, site, c, origin) },
			lasts: -time.Second, why: "Expired"},
		"no response":     {says: func(string) []byte { return []byte(`{}`) }, why: "ID missing"},
		"half a response": {says: func(string) []byte { return []byte(`{"id": "x", "rawId": "`) }, why: "Parse error"},
	} {
		keys.lasts = cmp.Or(c.lasts, lasts)
		challenge, end := ask(t, keys, "ana")
		if by, err := end(c.says(challenge)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %q, %v, want %q", name, by, err, c.why)
		}
	}
	keys.lasts = lasts
	challenge, end := ask(t, keys, "ana")
	if _, err := end(anas.get(t, site, challenge, origin)); err != nil {
		t.Errorf("and then the right one: %v", err)
	}
}

func TestAKeyOfWhichThereMayBeACopyCountsNoMore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, k := open(t, dir), newSoftKey(t)
	register(t, keys, "ana", k)
	for range 3 {
		challenge, c := ask(t, keys, "ana")
		_, err := c(k.get(t, site, challenge, origin))
		must(t, err)
	}
	k.counter = 1 // as a copy has it that was made before
	challenge, c := ask(t, keys, "ana")
	if _, err := c(k.get(t, site, challenge, origin)); err == nil || !strings.Contains(err.Error(), "may be a copy") {
		t.Errorf("a counter that goes back: %v", err)
	}
	k.counter = 100
	if _, _, err := open(t, dir).Ask("ana", site, origin); !errors.Is(err, ErrRefused) {
		t.Errorf("the key is asked for again: %v", err)
	}
	all, err := keys.List("ana")
	must(t, err)
	if !all[0].Copied {
		t.Error("she is not told of it")
	}
}

func TestARegistrationIsForItsPersonAndSite(t *testing.T) {
	t.Parallel()
	keys, k := open(t, t.TempDir()), newSoftKey(t)
	for name, other := range map[string]string{"another origin": "https://evil.example.com", "no TLS": "http://bailiff.example.com:8642"} {
		options, c, err := keys.Register("ana", "key", site, origin, false)
		must(t, err)
		if _, err := c(k.create(t, site, challengeOf(t, options), other)); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	register(t, keys, "ana", k)
	options, c, err := keys.Register("ben", "key", site, origin, false)
	must(t, err)
	if _, err := c(k.create(t, site, challengeOf(t, options), origin)); !errors.Is(err, ErrRefused) {
		t.Errorf("one key of two people: %v", err)
	}
	if _, _, err := keys.Ask("ana", "other.example.com", "https://other.example.com"); !errors.Is(err, ErrRefused) {
		t.Errorf("asked for at another site: %v", err)
	}
	for _, name := range []string{"", " x", "a\nb", strings.Repeat("x", maxName+1), "\xff"} {
		if _, _, err := keys.Register("ana", name, site, origin, true); !errors.Is(err, ErrRefused) {
			t.Errorf("the name %q: %v", name, err)
		}
	}
	for range maxKeys - 1 {
		register(t, keys, "ana", newSoftKey(t))
	}
	if _, _, err := keys.Register("ana", "one more", site, origin, true); !errors.Is(err, ErrRefused) {
		t.Errorf("one more than there may be: %v", err)
	}
}

func TestKeysOfARemovedPersonCountNoMore(t *testing.T) {
	t.Parallel()
	keys := open(t, t.TempDir())
	register(t, keys, "ana", newSoftKey(t))
	bens := register(t, keys, "ben", newSoftKey(t))
	if err := keys.Remove("ana", bens); !errors.Is(err, ErrRefused) {
		t.Errorf("ana removes ben's: %v", err)
	}
	must(t, keys.Retain([]string{"ana", "carl"}))
	must(t, keys.Retain([]string{"ana", "ben"}))
	if _, _, err := keys.Ask("ben", site, origin); !errors.Is(err, ErrRefused) {
		t.Errorf("a person who is named again has the keys of before: %v", err)
	}
	if _, _, err := keys.Ask("ana", site, origin); err != nil {
		t.Error(err)
	}
}

func TestAFurtherKeyIsConfirmedEvenIfItsRegistrationBeganAsTheFirst(t *testing.T) {
	t.Parallel()
	keys, late := open(t, t.TempDir()), newSoftKey(t)
	options, end, err := keys.Register("ana", "late", site, origin, false)
	must(t, err)
	register(t, keys, "ben", newSoftKey(t))
	register(t, keys, "ana", newSoftKey(t))
	if _, err := end(late.create(t, site, challengeOf(t, options), origin)); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), "you have a key at "+site+" by now") {
		t.Errorf("which began as the first and ends as the second: %v", err)
	}
	if _, _, err := keys.Register("ana", "later", site, origin, false); !errors.Is(err, ErrRefused) {
		t.Errorf("which begins as the second: %v", err)
	}
	const elsewhere = "other.example.com"
	options, end, err = keys.Register("ana", "elsewhere", elsewhere, "https://"+elsewhere, false)
	must(t, err)
	if _, err := end(late.create(t, elsewhere, challengeOf(t, options), "https://"+elsewhere)); err != nil {
		t.Errorf("the first at another site: %v", err)
	}
}

// Were a key forgotten that cannot be read, the next one would be the first, which is not confirmed.
func TestAKeyThatCannotBeReadIsNotForgotten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, anas, bens, next := open(t, dir), newSoftKey(t), newSoftKey(t), newSoftKey(t)
	options, ends, err := keys.Register("carl", "carl's", site, origin, false)
	must(t, err)
	file := filepath.Join(dir, register(t, keys, "ana", anas)+".json")
	id := register(t, keys, "ben", bens)
	challenge, proves := ask(t, keys, "ben")
	whole, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(whole), "{", `{"of_a_newer_version": 1, `, 1)), 0o600))
	for name, does := range map[string]func() error{
		"a list":            func() error { _, err := keys.List("ana"); return err },
		"a question":        func() error { _, _, err := keys.Ask("ben", site, origin); return err },
		"its end":           func() error { _, err := proves(bens.get(t, site, challenge, origin)); return err },
		"a registration":    func() error { _, _, err := keys.Register("ana", "next", site, origin, false); return err },
		"its end, too":      func() error { _, err := ends(next.create(t, site, challengeOf(t, options), origin)); return err },
		"a removal":         func() error { return keys.Remove("ben", id) },
		"people who change": func() error { return keys.Retain([]string{"carl"}) },
	} {
		if err := does(); err == nil || errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, os.WriteFile(file, whole, 0o600))
	challenge, proves = ask(t, keys, "ana")
	if _, err := proves(anas.get(t, site, challenge, origin)); err != nil {
		t.Errorf("once it can be read again: %v", err)
	}
	if all, err := keys.List("carl"); err != nil || len(all) > 0 {
		t.Errorf("meanwhile there came %+v, %v", all, err)
	}
}

// An answer whose counter is not on disk could be given again by a copy.
func TestAnAnswerThatCannotBeWrittenDownDoesNotCount(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "keys")
	keys, k := open(t, dir), newSoftKey(t)
	register(t, keys, "ana", k)
	challenge, c := ask(t, keys, "ana")
	must(t, os.RemoveAll(dir))
	must(t, os.WriteFile(dir, nil, 0o600)) // where a folder was
	if by, err := c(k.get(t, site, challenge, origin)); err == nil {
		t.Errorf("proved by %s", by)
	}
}
