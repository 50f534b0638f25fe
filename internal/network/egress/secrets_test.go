package egress

import (
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

const (
	tokenInside  = "ghp_standinstandinstandinstandinstand012"
	tokenOutside = "ghp_VALUEVALUEVALUEVALUEVALUEVALUEVALU34"
)

// swapping is a world whose requests have a variable that is swapped at the server.
func swapping(t *testing.T, handle http.HandlerFunc) (w *world, proxy, host string) {
	t.Helper()
	w, server := secured(t, handle)
	service := server.Listener.Addr().String()
	host = "allowed.test:" + port(service)
	w.swapped = []bailiff.Swapped{{StandIn: tokenInside, Value: bailiff.NewSecret(tokenOutside),
		Swap: bailiff.Swap{Name: "TOKEN", Hosts: []string{host}, In: []string{"authorization"}}}}
	return w, proxied(t, w, service), host
}

func bearing(t *testing.T, address string) *http.Request {
	t.Helper()
	r := asking(t, "GET", address)
	r.Header.Set("Authorization", "Bearer "+tokenInside)
	return r
}

func TestAnAnswerTellsNothingOfTheValueThatItsServerWasGiven(t *testing.T) {
	_, proxy, host := swapping(t, func(w http.ResponseWriter, r *http.Request) {
		given := r.Header.Get("Authorization")
		if given != "Bearer "+tokenOutside || r.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf("the server was given %q %q", given, r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Link", given)
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Trailer", "X-Late")
		w.Header().Set("X-"+tokenOutside, "1")
		fmt.Fprint(w, "begin "+base64.StdEncoding.EncodeToString([]byte(tokenOutside))+" "+tokenOutside[:20])
		w.(http.Flusher).Flush()
		fmt.Fprint(w, tokenOutside[20:]+" end")
		w.Header().Set("X-Late", given)
	})
	for version, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
		t.Run(version, func(t *testing.T) {
			r := bearing(t, "https://"+host+"/")
			var early []string
			r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
				Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
					early = append(early, fmt.Sprint(header))
					return nil
				},
			}))
			answer, err := program(t, proxy, http2).Do(r)
			must(t, err)
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			must(t, err)
			all := fmt.Sprint(answer.Header, answer.Trailer, string(body), early)
			if strings.Contains(strings.ToLower(all), strings.ToLower(tokenOutside)) || strings.Contains(all,
				base64.StdEncoding.EncodeToString([]byte(tokenOutside))) {
				t.Errorf("it tells %s", all)
			}
			if string(body) != "begin [TOKEN redacted] [TOKEN redacted] end" || answer.Trailer.Get("X-Late") != "Bearer [TOKEN redacted]" {
				t.Errorf("it tells %q, and last %v", body, answer.Trailer)
			}
		})
	}
}

func TestAnAnswerThatCannotBeSearchedStaysOutside(t *testing.T) {
	_, proxy, host := swapping(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		packed := gzip.NewWriter(w)
		defer packed.Close()
		fmt.Fprint(packed, r.Header.Get("Authorization"))
	})
	if status, rule, body := answered(t, program(t, proxy, false), bearing(t, "https://"+host+"/")); status != http.StatusBadGateway ||
		rule != ruleUnsearched || !strings.Contains(body, "encodes its answer") {
		t.Errorf("got %d %s %s", status, rule, body)
	}
}

func TestAStandInLeavesForNoOtherPlace(t *testing.T) {
	var mu sync.Mutex
	var given []string
	w, proxy, host := swapping(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		given = append(given, r.RequestURI)
	})
	client := program(t, proxy, true)
	for name, r := range map[string]*http.Request{
		"a query": asking(t, "GET", "https://"+host+"/?t="+tokenInside), "a path": asking(t, "GET", "https://"+host+"/"+tokenInside),
		"another header": func() *http.Request {
			r := asking(t, "GET", "https://"+host+"/")
			r.Header.Set("Cookie", "t="+tokenInside)
			return r
		}(),
	} {
		if status, rule, body := answered(t, client, r); status != http.StatusForbidden || rule != "egress.stray_secret" ||
			strings.Contains(body, tokenInside) {
			t.Errorf("%s: %d %s %q", name, status, rule, body)
		}
	}
	w.mu.Lock()
	w.swapped[0].Hosts = []string{"other.test"}
	w.mu.Unlock()
	client = program(t, proxy, true) // what stands for what is settled with a connection
	if status, rule, _ := answered(t, client, bearing(t, "https://"+host+"/")); status != http.StatusForbidden ||
		rule != "egress.stray_secret" {
		t.Errorf("at a host that the row does not name: %d %s", status, rule)
	}
	if len(given) > 0 || slices.Contains(w.done(), "judge https allowed.test GET") {
		t.Errorf("the server was asked for %v, and it did %v", given, w.done())
	}
}

// Each request reaches the server, or not, and never with the value.
func TestAStandInIsWorthNothingElsewhere(t *testing.T) {
	var mu sync.Mutex
	var given []string
	w, proxy, host := swapping(t, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		given = append(given, fmt.Sprint(r.RequestURI, r.Header, r.Trailer, string(body), err))
	})
	w.mu.Lock()
	w.swapped[0].In = append(w.swapped[0].In, "query:key", "path", "header:x-key")
	w.mu.Unlock()
	with := func(name, value string) *http.Request {
		r := asking(t, "POST", "https://"+host+"/")
		r.Header.Set(name, value)
		return r
	}
	in := func(body string) *http.Request {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "https://"+host+"/", io.MultiReader(strings.NewReader(body)))
		must(t, err)
		return r
	}
	trailing := in("x")
	trailing.Trailer = http.Header{"X-Late": {tokenInside}}
	encoded := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	for name, c := range map[string]struct {
		r      *http.Request
		passes bool
	}{
		"User-Agent":            {with("User-Agent", tokenInside), false},
		"Origin":                {with("Origin", "https://"+tokenInside), false},
		"Referer":               {with("Referer", "https://a.test/"+tokenInside), false},
		"Cookie":                {with("Cookie", "t="+tokenInside), false},
		"X-Forwarded-For":       {with("X-Forwarded-For", tokenInside), false},
		"traceparent":           {with("Traceparent", tokenInside), false},
		"part of a header":      {with("X-Key", tokenInside+"x"), false},
		"part of a password":    {with("Authorization", "Basic "+encoded("x:"+tokenInside+"x")), false},
		"Basic in a Basic":      {with("Authorization", "Basic "+encoded("x:"+encoded("x:"+tokenInside))), false},
		"another parameter":     {asking(t, "POST", "https://"+host+"/?other="+tokenInside), false},
		"before the end":        {asking(t, "POST", "https://"+host+"/"+tokenInside+"x"), false},
		"a body":                {in("key=" + tokenInside), true},
		"a trailer":             {trailing, true},
		"one that was guessed":  {with("Authorization", "Bearer "+strings.Replace(tokenInside, "s", "t", 1)), true},
		"the value of a user's": {with("Authorization", "Bearer ghp_another0another0another0another0123"), true},
	} {
		mu.Lock()
		given = nil
		mu.Unlock()
		status, rule, body := answered(t, program(t, proxy, false), c.r)
		mu.Lock()
		told := strings.Join(given, "\n")
		mu.Unlock()
		if passed := status == http.StatusOK; passed != c.passes || passed != (told != "") || !passed && rule != "egress.stray_secret" {
			t.Errorf("%s: %d %s %s, and the server was told %q", name, status, rule, body, told)
		}
		if strings.Contains(told, tokenOutside) {
			t.Errorf("%s: the server was told the value: %s", name, told)
		}
	}
	for name, r := range map[string]*http.Request{
		"a parameter": asking(t, "POST", "https://"+host+"/?key="+tokenInside),
		"a segment":   asking(t, "POST", "https://"+host+"/bot"+tokenInside+"/x"),
		"a header":    with("X-Key", tokenInside), "a user's name": with("Authorization", "Basic "+encoded(tokenInside+":")),
	} {
		mu.Lock()
		given = nil
		mu.Unlock()
		status, rule, _ := answered(t, program(t, proxy, false), r)
		mu.Lock()
		told := strings.Join(given, "\n")
		mu.Unlock()
		if status != http.StatusOK || !strings.Contains(told, tokenOutside) && !strings.Contains(told, encoded(tokenOutside+":")) {
			t.Errorf("%s: %d %s, and the server was told %q", name, status, rule, told)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.events {
		if all := fmt.Sprint(e); strings.Contains(all, tokenOutside) {
			t.Errorf("the log is told the value: %s", all)
		}
	}
}

func TestNoValueLeavesWithoutTLS(t *testing.T) {
	w := &world{allowed: map[string]bool{"http allowed.test GET": true}, swapped: []bailiff.Swapped{{StandIn: tokenInside,
		Value: bailiff.NewSecret(tokenOutside),
		Swap:  bailiff.Swap{Name: "TOKEN", Hosts: []string{"allowed.test", "allowed.test:80"}, In: []string{"authorization"}}}}}
	got := said(t, proxied(t, w, "127.0.0.1:1"), "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\nAuthorization: Bearer "+
		tokenInside+"\r\n\r\n")
	if !strings.HasPrefix(got, "HTTP/1.1 403 ") || !strings.Contains(got, "egress.stray_secret") {
		t.Errorf("got %q", got)
	}
}

// A server that keeps to HTTP would cut the value into pieces that are found nowhere.
func TestAServerIsNotAskedForPartsOfAnAnswerWithAValue(t *testing.T) {
	const before = "the token is "
	_, proxy, host := swapping(t, func(w http.ResponseWriter, r *http.Request) {
		for name := range r.Header {
			if name != "Content-Range" && strings.Contains(name, "ange") || strings.HasPrefix(name, "Want-") || name == "A-Im" {
				t.Errorf("the server was told %s: %v", name, r.Header[name])
			}
		}
		if r.URL.Path == "/parts" {
			w.Header().Set("Content-Range", "bytes 0-9/100")
			w.WriteHeader(http.StatusPartialContent)
		}
		said := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(before+said+" "+r.Header.Get("Content-Range")))
	})
	client := program(t, proxy, true)
	for name, value := range map[string]string{
		"Range": "bytes=13-20", "If-Range": `"x"`, "Request-Range": "bytes=0-1", "X-Ms-Range": "bytes=0-1", "A-Im": "feed",
		"Want-Digest": "sha-256", "Want-Content-Digest": "sha-256=1", "Want-Repr-Digest": "sha-256=1", "Accept-Charset": "utf-16",
	} {
		r := bearing(t, "https://"+host+"/")
		r.Header.Set("Range", "bytes=0-15,16-40")
		r.Header.Set(name, value)
		if status, _, body := answered(t, client, r); status != http.StatusOK || body != before+"[TOKEN redacted] " {
			t.Errorf("%s: %d %q", name, status, body)
		}
	}
	upload := bearing(t, "https://"+host+"/")
	upload.Header.Set("Content-Range", "bytes 0-9/100")
	if status, _, body := answered(t, client, upload); status != http.StatusOK || !strings.HasSuffix(body, "bytes 0-9/100") {
		t.Errorf("a part that is sent: %d %q", status, body)
	}
	status, rule, body := answered(t, client, bearing(t, "https://"+host+"/parts"))
	if status != http.StatusBadGateway || rule != ruleUnsearched {
		t.Errorf("a part that nobody asked for: %d %s %q", status, rule, body)
	}
}

func TestARequestWithoutAValueMayAskForParts(t *testing.T) {
	_, proxy, host := swapping(t, func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader("0123456789"))
	})
	r := asking(t, "GET", "https://"+host+"/")
	r.Header.Set("Range", "bytes=2-4")
	if status, _, body := answered(t, program(t, proxy, true), r); status != http.StatusPartialContent || body != "234" {
		t.Errorf("got %d %q", status, body)
	}
}

// git writes the URL that it was given into a file, and sends it with the next request.
func TestADeadStandInIsNamed(t *testing.T) {
	var mu sync.Mutex
	var given []string
	w, proxy, host := swapping(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		given = append(given, r.Header.Get("Authorization"))
	})
	ask := func(authorization string) (int, string, string) {
		r := asking(t, "GET", "https://"+host+"/")
		r.Header.Set("Authorization", authorization)
		return answered(t, program(t, proxy, true), r)
	}
	basic := func(text string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("x:"+text)) }
	if status, _, _ := ask("Bearer " + tokenInside); status != http.StatusOK {
		t.Fatalf("the request that has the variable: %d", status)
	}
	later := strings.Replace(tokenInside, "stand", "later", 1)
	for name, swapped := range map[string][]bailiff.Swapped{
		"a request that has another for it": {{StandIn: later, Value: w.swapped[0].Value, Swap: w.swapped[0].Swap}},
		"one that has none":                 nil,
	} {
		w.mu.Lock()
		w.swapped = swapped
		w.mu.Unlock()
		for _, authorization := range []string{"Bearer " + tokenInside, basic(tokenInside)} {
			if status, rule, body := ask(authorization); status != http.StatusForbidden || rule != ruleStray ||
				!strings.Contains(body, "stood for TOKEN in another request") || strings.Contains(body, tokenInside) {
				t.Errorf("%s: %d %s %s", name, status, rule, body)
			}
		}
		if status, _, _ := ask("Bearer ghp_anothersanothersanothersanothersano01"); status != http.StatusOK {
			t.Errorf("%s: a token of its own: %d", name, status)
		}
	}
	w.mu.Lock()
	w.swapped = []bailiff.Swapped{{StandIn: later, Value: bailiff.NewSecret(tokenOutside), Swap: bailiff.Swap{Name: "TOKEN",
		Hosts: []string{host}, In: []string{"authorization"}}}}
	w.mu.Unlock()
	if status, _, _ := ask(basic(later)); status != http.StatusOK || given[len(given)-1] != basic(tokenOutside) {
		t.Errorf("its own: %d, the server was given %q", status, given)
	}
}
