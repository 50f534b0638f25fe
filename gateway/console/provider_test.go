package console

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/internal/login"
)

// vouching is a provider at which ana logs in without a page.
type vouching struct{ refuses error }

func (vouching) Name() string { return "id.example.com" }

func (vouching) Begin(_ context.Context, redirect string) (string, string, error) {
	return redirect + "?code=c&state=s", "kept", nil
}

func (v vouching) Finish(_ context.Context, _, kept, state, code string) (bailiff.Approver, error) {
	if kept != "kept" || state != "s" || code != "c" {
		return bailiff.Approver{}, fmt.Errorf("%w: it brings %q, %q, %q", login.ErrRefused, kept, state, code)
	}
	return bailiff.Approver{Person: "ana", Credential: "oidc:a1", Channel: "console", Login: "oidc"}, v.refuses
}

func (vouching) BeginDevice(context.Context) (Device, error) { return Device{}, login.ErrUnavailable }

// The people may be read again after a login has looked whether its person is one, and before its session
// is there to be reviewed.
func TestALoginWhosePersonIsRemovedMeanwhileEnds(t *testing.T) {
	for name, log := range map[string]func(*Console) *httptest.ResponseRecorder{
		"a link": func(c *Console) *httptest.ResponseRecorder {
			link, _ := c.Link(person("ana"))
			return (&visitor{Console: c}).loginBy(link)
		},
		"a command line": func(c *Console) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			c.enterDevice(w, person("ana"))
			return w
		},
	} {
		looks := 0
		c, err := Open(Config{Address: "127.0.0.1:0", Operator: echo, Known: func(bailiff.Approver) error {
			if looks++; looks > 1 {
				return errors.New("ana is not known")
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
		w := log(c)
		if w.Code != http.StatusForbidden || len(w.Result().Cookies()) > 0 || strings.Contains(w.Body.String(), `"token"`) ||
			len(c.sessions.list()) > 0 {
			t.Errorf("%s: %d %s, and %d sessions are there", name, w.Code, w.Body, len(c.sessions.list()))
		}
	}
}

func TestALoginThatIsRefusedSaysWhyAsText(t *testing.T) {
	counted := map[string]int{}
	c, err := Open(Config{Address: "127.0.0.1:0", Known: anyone, Operator: echo,
		Provider: vouching{refuses: fmt.Errorf("%w: <b>eve</b> is not known", login.ErrRefused)},
		Counted:  func(way string, in bool) { counted[fmt.Sprint(way, in)]++ }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Shutdown(context.Background()) })
	v := &visitor{Console: c}
	begun := v.visit("GET", "/oidc/login", "", "Sec-Fetch-Site", "cross-site")
	if begun.Code != http.StatusSeeOther {
		t.Fatalf("beginning: %d %s", begun.Code, begun.Body)
	}
	cookie := begun.Result().Cookies()[0]
	if cookie.SameSite != http.SameSiteLaxMode || !cookie.HttpOnly || cookie.Path != "/oidc/" {
		t.Errorf("the browser keeps %v", cookie)
	}
	back, err := url.Parse(begun.Header().Get("Location"))
	if err != nil {
		t.Fatal(err)
	}
	w := v.visit("GET", back.RequestURI(), "", "Sec-Fetch-Site", "cross-site", "Cookie", cookie.Name+"="+cookie.Value)
	if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "&lt;b&gt;eve&lt;/b&gt; is not known") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if w := v.visit("GET", back.RequestURI(), "", "Sec-Fetch-Site", "cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("without what the browser kept: %d %s", w.Code, w.Body)
	}
	if counted["oidcfalse"] != 2 || counted["oidctrue"] != 0 {
		t.Errorf("counted %v", counted)
	}
	if w := v.visit("GET", "/oidc/login", "", "Host", "localhost:"+strings.Split(c.host, ":")[1]); w.Header().Get("Location") !=
		c.base+"/oidc/login" {
		t.Errorf("by another name it sends to %s", w.Header().Get("Location"))
	}
}
