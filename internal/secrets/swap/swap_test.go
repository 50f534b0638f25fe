package swap

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
)

func TestAStandInHasTheShapeOfItsValueAndTellsNothingOfIt(t *testing.T) {
	for value, begin := range map[string]string{
		"ghp_0123456789abcdefghijABCDEFGHIJ012345":                   "ghp_",
		"github_pat_11ABCDEFG0abcdefghijkl_0123456789abcdefghijklmn": "github_pat_",
		"sk-ant-api03-0123456789abcdefghijABCDEFGHIJ0123456789-AA":   "sk-ant-api03-",
		"0123456789abcdef0123456789abcdef":                           "",
		"1234567:VALUEVALUEVALUEVALUEVALUEVALUE012345":               "1234567:",
	} {
		one, err := StandIn(value)
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		other, err := StandIn(value)
		if err != nil || one == other || one == value {
			t.Errorf("%s: %s and %s, %v", value, one, other, err)
		}
		if len(one) != len(value) || !strings.HasPrefix(one, begin) || isOf(value, hexadecimal) != isOf(one, hexadecimal) {
			t.Errorf("%s stands for %s", one, value)
		}
		for i := range len(value) - 8 {
			if i >= len(begin) && strings.Contains(one, value[i:i+8]) {
				t.Errorf("%s holds %s of %s", one, value[i:i+8], value)
			}
		}
	}
}

func TestValuesWithoutAShapeHaveNoStandIn(t *testing.T) {
	for _, value := range []string{"", "short", "ghp_short0123456789", strings.Repeat("a", 40) + "\nb", strings.Repeat("ä", 40),
		"-----BEGIN KEY----- " + strings.Repeat("a", 40)} {
		if made, err := StandIn(value); err == nil {
			t.Errorf("%q stands for %q", made, value)
		}
	}
}

const (
	standIn = "ghp_standinstandinstandinstandinstand012"
	value   = "ghp_VALUEVALUEVALUEVALUEVALUEVALUEVALU34"
)

func token() bailiff.Swapped {
	return bailiff.Swapped{Swap: bailiff.Swap{Name: "GITHUB_TOKEN", Hosts: []string{"github.com"}, In: []string{"authorization"}},
		StandIn: standIn, Value: bailiff.NewSecret(value)}
}

func encoded(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func TestAValueIsPutInWhereItsRowSaysSo(t *testing.T) {
	for name, c := range map[string]struct{ header, is, want string }{
		"alone":            {"Authorization", standIn, value},
		"a bearer":         {"Authorization", "Bearer " + standIn, "Bearer " + value},
		"a token":          {"Authorization", "token " + standIn, "token " + value},
		"a password":       {"Authorization", "Basic " + encoded("x:"+standIn), "Basic " + encoded("x:"+value)},
		"a name":           {"Authorization", "Basic " + encoded(standIn+":"), "Basic " + encoded(value+":")},
		"part of a word":   {"Authorization", "Bearer x" + standIn, ""},
		"two words":        {"Authorization", "Bearer " + standIn + " x", ""},
		"another header":   {"X-Api-Key", standIn, ""},
		"part of Basic":    {"Authorization", "Basic " + encoded("x:y"+standIn), ""},
		"Basic in a Basic": {"Authorization", "Basic " + encoded("x:"+encoded("x:"+standIn)), ""},
	} {
		head := http.Header{c.header: {c.is}}
		swapped, names := In(Head{head, &url.URL{}}, "github.com", []bailiff.Swapped{token()})
		want := c.want
		if want == "" {
			want = c.is
		}
		if swapped.Header.Get(c.header) != want || (c.want != "") != (len(names) == 1) || head.Get(c.header) != c.is {
			t.Errorf("%s: %v %v, want %q", name, swapped, names, want)
		}
		elsewhere, names := In(Head{head, &url.URL{}}, "evil.github.com", []bailiff.Swapped{token()})
		if elsewhere.Header.Get(c.header) != c.is || len(names) > 0 {
			t.Errorf("%s at another host: %v %v", name, elsewhere, names)
		}
	}
}

const (
	botStandIn = "1234567:standinstandinstandinstandinstandin"
	botValue   = "1234567:VALUE+VALUE=VALUEVALUEVALUEVALUE012"
)

func TestAValueIsPutInInTheURLWhereItsRowSaysSo(t *testing.T) {
	for name, c := range map[string]struct{ in, is, want string }{
		"a parameter": {"query:key", "/a?x=%20&key=" + botStandIn + "&b",
			"/a?x=%20&key=" + url.QueryEscape(botValue) + "&b"},
		"an escaped parameter": {"query:a[b]", "/a?a%5Bb%5D=" + url.QueryEscape(botStandIn),
			"/a?a%5Bb%5D=" + url.QueryEscape(botValue)},
		"two parameters":               {"query:key", "/a?key=" + botStandIn + "&key=x", "/a?key=" + url.QueryEscape(botValue) + "&key=x"},
		"another parameter":            {"query:key", "/a?Key=" + botStandIn, ""},
		"part of a parameter":          {"query:key", "/a?key=x" + botStandIn, ""},
		"a parameter, and in no query": {"query:key", "/" + botStandIn, ""},
		"a segment":                    {Path, "/a%2fb/" + botStandIn + "/send?x", "/a%2fb/" + botValue + "/send?x"},
		"the end of a segment":         {Path, "/bot" + botStandIn + "/send", "/bot" + botValue + "/send"},
		"the beginning of a segment":   {Path, "/" + botStandIn + "x/send", ""},
		"in no path":                   {Path, "/?key=" + botStandIn, ""},
		"a header, and in no header":   {"header:key", "/?key=" + botStandIn, ""},
	} {
		one := bailiff.Swapped{Swap: bailiff.Swap{Name: "BOT", Hosts: []string{"a.test"}, In: []string{c.in}}, StandIn: botStandIn,
			Value: bailiff.NewSecret(botValue)}
		at, err := url.Parse("https://a.test" + c.is)
		if err != nil {
			t.Fatal(err)
		}
		swapped, names := In(Head{http.Header{}, at}, "a.test", []bailiff.Swapped{one})
		want := c.want
		if want == "" {
			want = c.is
		}
		if swapped.URL.String() != "https://a.test"+want || (c.want != "") != (len(names) == 1) || at.String() != "https://a.test"+c.is {
			t.Errorf("%s: %s %v, want %q", name, swapped.URL, names, want)
		}
		if stray := NewFinder([]bailiff.Swapped{one}).Stray(swapped); (stray != "") != (c.want == "") {
			t.Errorf("%s: found %q afterwards", name, stray)
		}
	}
	header := bailiff.Swapped{Swap: bailiff.Swap{Name: "BOT", Hosts: []string{"a.test"}, In: []string{"header:x-key", Path}},
		StandIn: botStandIn, Value: bailiff.NewSecret("1234567:VALUE/VALUE")}
	swapped, names := In(Head{http.Header{"X-Key": {botStandIn}}, &url.URL{Path: "/" + botStandIn}}, "a.test", []bailiff.Swapped{header})
	if swapped.Header.Get("X-Key") != "1234567:VALUE/VALUE" || swapped.URL.Path != "/"+botStandIn || len(names) != 1 {
		t.Errorf("a value with a slash: %v %v", swapped, names)
	}
}

func TestAStandInThatMayStandAnywhereIsNoStray(t *testing.T) {
	one := token()
	one.StrayPasses = true
	head := Head{http.Header{"User-Agent": {standIn}}, &url.URL{Path: "/" + standIn}}
	if got := NewFinder([]bailiff.Swapped{one}).Stray(head); got != "" {
		t.Errorf("found %q", got)
	}
	if swapped, names := In(head, "github.com", []bailiff.Swapped{one}); len(names) > 0 || swapped.URL.Path != "/"+standIn {
		t.Errorf("became %v, %v", swapped, names)
	}
}

func TestAStandInIsFoundWhereItMayNotStand(t *testing.T) {
	at := func(text string) *url.URL {
		u, err := url.Parse("https://github.com" + text)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	none := http.Header{"Accept": {"*/*"}}
	for name, c := range map[string]struct {
		head http.Header
		at   *url.URL
	}{
		"a path":          {none, at("/" + standIn)},
		"a query":         {none, at("/?t=" + standIn)},
		"an escaped path": {none, at("/" + strings.ReplaceAll(standIn, "s", "%73"))},
		"a header":        {http.Header{"User-Agent": {"git " + standIn}}, at("/")},
		"a cookie":        {http.Header{"Cookie": {"t=" + standIn}}, at("/")},
		"Basic":           {http.Header{"Authorization": {"Basic " + encoded("name:a"+standIn)}}, at("/")},
		"base64":          {http.Header{"X-A": {encoded("a" + standIn)}}, at("/")},
		"a header's name": {http.Header{standIn: {"1"}}, at("/")},
	} {
		if got := NewFinder([]bailiff.Swapped{token()}).Stray(Head{c.head, c.at}); got != "GITHUB_TOKEN" {
			t.Errorf("%s: found %q", name, got)
		}
	}
	if got := NewFinder([]bailiff.Swapped{token()}).Stray(Head{none, at("/ordinary?x=ghp_other")}); got != "" {
		t.Errorf("found %q in an ordinary request", got)
	}
}

func FuzzNoValueIsPutInForAnythingElse(f *testing.F) {
	f.Add("Bearer " + standIn)
	f.Add("Basic " + encoded("x:"+standIn))
	f.Add("Basic Og==")
	f.Fuzz(func(t *testing.T, header string) {
		head := Head{http.Header{"Authorization": {header}}, &url.URL{}}
		swapped, names := In(head, "github.com", []bailiff.Swapped{token()})
		had := NewFinder([]bailiff.Swapped{token()}).Stray(head) != ""
		if (swapped.Header.Get("Authorization") != header) != (len(names) > 0) || len(names) > 0 && !had {
			t.Errorf("%q became %q", header, swapped.Header.Get("Authorization"))
		}
	})
}
