package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// repeat answers with what it was sent as a credential.
func repeat(answer func(credential string) http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { answer(r.Header.Get("Authorization"))(w, r) }
}

func TestWhatOthersSayIsOneHarmlessLineWithoutTheCredential(t *testing.T) {
	t.Parallel()
	const hostile = "a\x1b]0;owned\a\nlevel=INFO "
	for name, c := range map[string]struct {
		answer func(credential string) http.HandlerFunc
		want   string
	}{
		"a reason": {func(s string) http.HandlerFunc { return says(401, hostile+s) },
			"Acme answered 401: a]0;owned level=INFO Bearer [secret]"},
		"no HTTP": {func(s string) http.HandlerFunc { return raw(s + hostile + "\r\n\r\n") }, "[secret]"},
		"an odd status": {func(s string) http.HandlerFunc {
			return raw("HTTP/1.1 " + strings.TrimPrefix(s, "Bearer ") + "\r\n\r\n")
		}, "[secret]"},
		"an odd value": {func(s string) http.HandlerFunc { return says(200, `{"At": "`+s+`"}`) }, "[secret]"},
		"an odd number": {func(string) http.HandlerFunc { return says(200, `{"N": 1`+strings.Repeat("0", 4000)+`}`) },
			"cannot unmarshal number"},
		"an odd character": {func(string) http.HandlerFunc { return says(200, "\x1b") }, "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				var into struct {
					At time.Time
					N  int8
				}
				err := client.Do(t.Context(), a.call(false, &into))
				if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\a\n") ||
					strings.Contains(err.Error(), secret) || len(err.Error()) > 600 {
					t.Errorf("the fault is %q, want %q", err, c.want)
				}
			}, repeat(c.answer))
		})
	}
}

func TestAFaultNamesNoAddress(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{"lost": cut, "torn": torn, "late": silent, "refused": says(404, ""),
		"nonsense": says(200, "?")} {
		t.Run(name, func(t *testing.T) {
			asking(t, func(t *testing.T, client *Client, a *api) {
				err := client.Do(t.Context(), a.call(false, new(thing)))
				for ; err != nil; err = errors.Unwrap(err) {
					var addressed *url.Error
					if strings.Contains(err.Error(), "things") || errors.As(err, &addressed) {
						t.Errorf("the fault is %v", err)
					}
				}
			}, answer)
		})
	}
	client := New(Config{Name: "Acme"})
	err := client.Do(t.Context(), Call{Method: "GET", Address: "http://acme.test:not-a-port/things"})
	if err == nil || !strings.HasPrefix(err.Error(), "asking Acme: ") || strings.Contains(err.Error(), "things") {
		t.Errorf("an address that is none comes to %v", err)
	}
}

func TestTheCredentialFollowsNoRedirection(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		if err := client.Do(t.Context(), a.call(true, new(thing))); Status(err) != http.StatusTemporaryRedirect || len(a.asked()) != 1 {
			t.Errorf("after %d questions it came to %v", len(a.asked()), err)
		}
	}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://another.test", http.StatusTemporaryRedirect)
	}, fine)
}

func TestTheCredentialIsReadForEachAttempt(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		renewed := 0
		client.cfg.Credential = func() (bailiff.Secret, error) {
			renewed++
			return bailiff.NewSecret(fmt.Sprint("token-", renewed)), nil
		}
		if err := client.Do(t.Context(), a.call(false, nil)); err != nil {
			t.Error(err)
		}
		if want := []string{"Bearer token-1", "Bearer token-2"}; !slices.Equal(a.tokens, want) {
			t.Errorf("it was asked with %q, want %q", a.tokens, want)
		}
	}, busy, fine)
}

func TestWithoutItsCredentialNobodyIsAsked(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		missing := errors.New("the file is empty")
		client.cfg.Credential = func() (bailiff.Secret, error) { return bailiff.Secret{}, missing }
		_, streaming := client.Stream(t.Context(), a.call(true, nil))
		upgrading := client.Upgrade(func(*http.Client, http.Header) (*http.Response, error) { panic("it is dialled") })
		for _, err := range []error{client.Do(t.Context(), a.call(true, nil)), streaming, upgrading} {
			if !errors.Is(err, missing) || len(a.asked()) > 0 || time.Since(a.since) > 0 {
				t.Errorf("after %v and %d questions it came to %v", time.Since(a.since), len(a.asked()), err)
			}
		}
	}, fine)
}

func TestWhoNeedsNoCredentialSendsNone(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		client.cfg.Credential, client.cfg.Reason = nil, nil
		var got thing
		if err := client.Do(t.Context(), Call{Method: "GET", Address: a.URL, Answer: &got}); err != nil || got.Name != "it" ||
			a.tokens[0] != "" {
			t.Errorf("it was asked with %q and came to %v, %v", a.tokens, got, err)
		}
		if err := client.Do(t.Context(), Call{Method: "GET", Address: a.URL}); err == nil || err.Error() != "Acme answered 400" {
			t.Errorf("a refusal comes to %v", err)
		}
	}, fine, says(400, "because"))
}

func TestARefusalTellsItsCodeAndReason(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		client.cfg.Reason = func(body []byte) (code, message string) {
			code, message, _ = strings.Cut(string(body), "/")
			return code, message
		}
		err := client.Do(t.Context(), a.call(false, nil))
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Code != "full" || refused.Message != "there is no room" || refused.Status != 409 ||
			err.Error() != "Acme answered 409 (full): there is no room" {
			t.Errorf("the refusal is %#v", err)
		}
	}, says(409, "full/there is no room"))
}

func TestACallSaysWhatItHasToSay(t *testing.T) {
	t.Parallel()
	asking(t, func(t *testing.T, client *Client, a *api) {
		if err := client.Do(t.Context(), Call{Method: "PUT", Address: a.URL + "/things?at=first",
			Query: url.Values{"at": {"a&b"}}, Header: http.Header{"X-Cwd": {"/"}, "Authorization": {"mine"}}}); err != nil {
			t.Error(err)
		}
	}, func(w http.ResponseWriter, r *http.Request) {
		got := fmt.Sprint(r.Method, " ", r.URL, " ", r.Header["X-Cwd"], r.Header["Authorization"], r.Header["User-Agent"])
		if want := "PUT /things?at=a%26b [/] [Bearer " + secret + "] [bailiff]"; got != want {
			t.Errorf("it was asked %s, want %s", got, want)
		}
	})
}

func TestWhatBecomesAnotherProtocolBeginsAsACall(t *testing.T) {
	t.Parallel()
	refuse := repeat(func(s string) http.HandlerFunc { return says(403, "not with "+s) })
	asking(t, func(t *testing.T, client *Client, a *api) {
		knock := func(by *http.Client, header http.Header) (*http.Response, error) {
			request, err := http.NewRequestWithContext(t.Context(), "GET", a.URL, nil)
			if err != nil {
				return nil, err
			}
			request.Header = header
			response, err := by.Do(request)
			if err == nil && response.StatusCode != http.StatusSwitchingProtocols {
				err = errors.New("handshake failed")
			}
			return response, err
		}
		for _, want := range []string{"reaching Acme: EOF", "Acme answered 403: not with Bearer [secret]", "<nil>"} {
			if err := client.Upgrade(knock); fmt.Sprint(err) != want {
				t.Errorf("it came to %v, want %s", err, want)
			}
		}
		if len(a.asked()) != 3 {
			t.Errorf("it was asked %d times", len(a.asked()))
		}
	}, cut, refuse, says(101, ""))
}
