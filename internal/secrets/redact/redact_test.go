package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

const token = "gh+_Zx9/Qk 7\"é&<\n!t0ken"

func values(pairs ...string) map[string]bailiff.Secret {
	m := map[string]bailiff.Secret{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = bailiff.NewSecret(pairs[i+1])
	}
	return m
}

func TestEveryFormOfAValueIsReplaced(t *testing.T) {
	t.Parallel()
	strict, _ := json.Marshal(token)
	for name, form := range map[string]string{
		"as it is":                 token,
		"hexadecimal":              hex.EncodeToString([]byte(token)),
		"hexadecimal, upper case":  strings.ToUpper(hex.EncodeToString([]byte(token))),
		"query-escaped":            url.QueryEscape(token),
		"path-escaped":             url.PathEscape(token),
		"query-escaped, lower":     lowerEscapes(url.QueryEscape(token)),
		"encodeURIComponent":       percent(token, "!'()*"),
		"JSON":                     unquote(string(strict)),
		"JSON as Python writes it": `gh+_Zx9/Qk 7\"\u00e9&<\n!t0ken`,
		"JSON as PHP writes it":    `gh+_Zx9\/Qk 7\"\u00e9&<\n!t0ken`,
		"every byte escaped":       everyByte(token, "%%%02X"),
		"every byte, lower case":   everyByte(token, "%%%02x"),
		"every unit escaped":       everyUnit(token, `\u%04x`),
		"every unit, upper case":   everyUnit(token, `\u%04X`),
		"base64 at the end":        base64.StdEncoding.EncodeToString([]byte(token)),
		"base64, URL, no padding":  base64.RawURLEncoding.EncodeToString([]byte(token)),
	} {
		t.Run(name, func(t *testing.T) {
			got := string(New(values("TOKEN", token)).Redact([]byte("a " + form + " b")))
			if got != "a [TOKEN redacted] b" {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestBase64OfSomethingAroundAValueHidesIt(t *testing.T) {
	t.Parallel()
	secret := "s3cr3t-value-of-some-length"
	r := New(values("K", secret))
	for lead := range 7 {
		for trail := range 7 {
			for _, alphabet := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
				base64.RawURLEncoding} {
				text := alphabet.EncodeToString([]byte(strings.Repeat("<", lead) + secret + strings.Repeat(">", trail)))
				if got := string(r.Redact([]byte(text))); !strings.Contains(got, "[K redacted]") || len(got) > len("[K redacted]")+16+8 {
					t.Errorf("lead %d, trail %d: %q", lead, trail, got)
				}
			}
		}
	}
}

// wrapped breaks a text into lines, as base64 and xxd do.
func wrapped(text string, width int, end string) string {
	var lines []string
	for chunk := range slices.Chunk([]byte(text), width) {
		lines = append(lines, string(chunk))
	}
	return strings.Join(lines, end)
}

func TestLineBreaksHideNoForm(t *testing.T) {
	t.Parallel()
	secret := "s3cr3t-value-of-some-length+40-characters"
	r := New(values("K", secret))
	whole := r.Redact([]byte(base64.StdEncoding.EncodeToString([]byte("<" + secret + ">"))))
	for lead := range 90 {
		text := strings.Repeat("<", lead) + secret + " and what comes then"
		for name, encoded := range map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(text)),
			"hexadecimal": hex.EncodeToString([]byte(text))} {
			for _, end := range []string{"\n", "\r\n"} {
				for _, width := range []int{1, 60, 64, 76} {
					in := wrapped(encoded, width, end)
					got := string(r.Redact([]byte(in)))
					if strings.Count(got, "[K redacted]") != 1 || len(got) > len(in)-len(secret) {
						t.Fatalf("%s in lines of %d after %d: %q becomes %q of %q", name, width, lead, in, got, whole)
					}
					if split := splitAnywhere(New(values("K", secret)), in, rand.New(rand.NewPCG(1, uint64(lead)))); split != got {
						t.Fatalf("%s in lines of %d after %d: in pieces %q, whole %q", name, width, lead, split, got)
					}
				}
			}
		}
	}
	for _, apart := range []string{"\n\n\n", "\n ", " \n"} {
		in := base64.StdEncoding.EncodeToString([]byte(secret))
		if in = in[:20] + apart + in[20:]; string(r.Redact([]byte(in))) != in {
			t.Errorf("%q is taken for one", in)
		}
	}
	if got := string(r.Redact([]byte("one line\nand\nanother"))); got != "one line\nand\nanother" {
		t.Errorf("got %q", got)
	}
}

func TestOverlapsLeaveNoByteOfAnyValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text, want string
		values           map[string]bailiff.Secret
	}{
		{"one within another", "x 0123456789abc y", "x [LONG redacted] y", values("LONG", "0123456789abc", "SHORT", "23456789")},
		{"only the inner one", "x 123456789 y", "x 1[SHORT redacted] y", values("LONG", "0123456789abc", "SHORT", "23456789")},
		{"one runs into the other", "x abcdefgh1234567 y", "x [B redacted] y",
			values("A", "abcdefgh12", "B", "gh1234567xx"[:9], "C", "zzzzzzzzzz", "B2", "efgh1234567")},
		{"touching", "aaaabbbbccccdddd", "[A redacted][C redacted]", values("A", "aaaabbbb", "C", "ccccdddd")},
		{"periodic", strings.Repeat("ab", 100) + "!", "[A redacted]!", values("A", "abababab")},
		{"a false start before it", "abcdabcdabcdX", "abcd[A redacted]", values("A", "abcdabcdX")},
		{"too short to redact", "x 1234567 y", "x 1234567 y", values("A", "1234567")},
		{"no values", "x y", "x y", nil},
		{"a name that would break JSON", "12345678", `[A__B redacted]`, values("A\"\nB", "12345678")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(New(c.values).Redact([]byte(c.text))); strings.ReplaceAll(got, "B2", "B") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAStreamHoldsBackOnlyWhatMayBeTheBeginningOfAValue(t *testing.T) {
	t.Parallel()
	r := New(values("A", "password1234"))
	for _, step := range []struct{ in, out string }{
		{"hello ", "hello "}, {"pass", ""}, {"port passwor", "passport "}, {"d1234", "[A redacted]"}, {" bye p", " bye "},
	} {
		if got := string(r.Write([]byte(step.in))); got != step.out {
			t.Errorf("after %q: got %q, want %q", step.in, got, step.out)
		}
	}
	if got := string(r.Flush()); got != "p" {
		t.Errorf("flush: got %q", got)
	}
	if got := string(r.Write([]byte("again password1234"))); got != "again [A redacted]" {
		t.Errorf("after a flush: got %q", got)
	}
}

func TestAnEndlessOccurrenceTakesNoMemory(t *testing.T) {
	t.Parallel()
	r := New(values("A", "aaaaaaaa"))
	chunk := bytes.Repeat([]byte("a"), 4096)
	for range 1000 {
		if out := r.Write(chunk); len(out) > 0 || len(r.stream.held) > r.Slack() || len(r.stream.pending) > 1 {
			t.Fatalf("out %q, held %d, pending %d", out, len(r.stream.held), len(r.stream.pending))
		}
	}
	if got := string(append(bytes.Clone(r.Write([]byte("b"))), r.Flush()...)); got != "[A redacted]b" {
		t.Errorf("got %q", got)
	}
}

func TestSlackIsTheLongestForm(t *testing.T) {
	t.Parallel()
	if got, form := New(values("A", "é23456789")).Slack(), everyUnit("é23456789", `\u%04x`); got != len(wrapped(form+"x", 1, "\r\n"))-1 {
		t.Errorf("slack is %d", got)
	}
	if got := New(nil).Slack(); got != 0 {
		t.Errorf("slack of nothing is %d", got)
	}
}

// covered is the definition that the automaton must meet: every byte of every
// occurrence of every form, found by plain search.
func covered(text string, secrets map[string]bailiff.Secret) []bool {
	hidden := make([]bool, len(text))
	for _, value := range secrets {
		if len(value.Reveal()) < shortest {
			continue
		}
		for _, form := range encodings(value.Reveal()) {
			for at := 0; at+len(form) <= len(text); at++ {
				if text[at:at+len(form)] == form {
					for i := range form {
						hidden[at+i] = true
					}
				}
			}
		}
	}
	return hidden
}

// visible is the text without its hidden bytes.
func visible(text string, hidden []bool) string {
	var b strings.Builder
	for i := range len(text) {
		if !hidden[i] {
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func FuzzSplittingAnywhereGivesTheSameOutput(f *testing.F) {
	f.Add("xx password1234 yy passpassword1234", "password1234", "1234 yy pa", uint64(1))
	f.Add("aaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaa", "aaaaaaaaab", uint64(2))
	f.Add("abababababababa-abababab", "abababab", "babababa", uint64(3))
	f.Add(base64.StdEncoding.EncodeToString([]byte("..password1234..")), "password1234", "word1234", uint64(4))
	f.Fuzz(func(t *testing.T, text, one, two string, seed uint64) {
		if strings.Contains(text, "redacted]") || len(text) > 4096 || len(one)+len(two) > 512 {
			return // the check below looks for the marker, and is quadratic
		}
		secrets := values("ONE", one, "TWO", two)
		whole := string(New(secrets).Redact([]byte(text)))
		if split := splitAnywhere(New(secrets), text, rand.New(rand.NewPCG(seed, 0))); split != whole {
			t.Fatalf("split %q, whole %q", split, whole)
		}
		plain := strings.NewReplacer("[ONE redacted]", "", "[TWO redacted]", "").Replace(whole)
		if want := visible(text, covered(text, secrets)); plain != want {
			t.Fatalf("got %q, want %q", plain, want)
		}
	})
}

func splitAnywhere(r *Redactor, text string, random *rand.Rand) string {
	var out []byte
	for len(text) > 0 {
		n := 1 + random.IntN(min(len(text), 9))
		out = append(out, r.Write([]byte(text[:n]))...)
		text = text[n:]
	}
	return string(append(out, r.Flush()...))
}

type vault struct {
	generation uint64
	secrets    map[string]bailiff.Secret
}

func (v *vault) Generation() uint64 { return v.generation }

func (v *vault) Secrets() iter.Seq2[string, bailiff.Secret] { return maps.All(v.secrets) }

func TestAScrubberFollowsItsSource(t *testing.T) {
	t.Parallel()
	v := &vault{1, values("A", "first-value")}
	s := NewScrubber(v)
	text := []byte("first-value second-value")
	if got := string(s.Scrub(text)); got != "[A redacted] second-value" {
		t.Errorf("got %q", got)
	}
	v.generation, v.secrets = 2, values("B", "second-value")
	if got := string(s.Scrub(text)); got != "first-value [B redacted]" {
		t.Errorf("after a change: got %q", got)
	}
}

func TestEncodingsAreNeverShorterThanTheValueDeserves(t *testing.T) {
	t.Parallel()
	for _, form := range encodings("12345678") {
		if len(form) < shortest {
			t.Errorf("form %q would hide ordinary output", form)
		}
	}
	if forms := encodings("12345678"); !slices.IsSorted(forms) {
		t.Errorf("not sorted: %q", forms)
	}
}

func manyValues(n int) map[string]bailiff.Secret {
	random := rand.New(rand.NewPCG(1, 2))
	m := map[string]bailiff.Secret{}
	for i := range n {
		raw := make([]byte, 30)
		for j := range raw {
			raw[j] = byte(random.Uint32())
		}
		m[fmt.Sprintf("TOKEN_%d", i)] = bailiff.NewSecret(base64.StdEncoding.EncodeToString(raw))
	}
	return m
}

func BenchmarkRedact(b *testing.B) {
	line := bytes.Repeat([]byte(`{"tool":"terminal","args":{"command":"git push origin main","workdir":"/workspace"}},`), 40)
	for _, n := range []int{2, 100} {
		b.Run(fmt.Sprintf("values=%d", n), func(b *testing.B) {
			r := New(manyValues(n))
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				r.Redact(line)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	secrets := manyValues(2)
	for b.Loop() {
		New(secrets)
	}
}

func TestADocumentIsScrubbedToItsNamesAndDepths(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(JSON(map[string]any{
		"text": "a", "list": []any{"b", json.Number("1"), map[string]any{"deep": []any{"c", nil}}}, "flag": true,
	}, strings.ToUpper))
	if want := `{"FLAG":true,"LIST":["B",1,{"DEEP":["C",null]}],"TEXT":"A"}`; err != nil || string(got) != want {
		t.Errorf("it is %s, want %s (%v)", got, want, err)
	}
}
