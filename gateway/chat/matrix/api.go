package matrix

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// busyFor is the wait for a busy homeserver that names none.
const busyFor = 5 * time.Second

// get asks for what is there.
func (m *Matrix) get(ctx context.Context, into any, query url.Values, parts ...string) error {
	return m.ask(ctx, httpapi.Call{Method: http.MethodGet, Address: m.address(parts...), Query: query, Answer: into})
}

// do changes something.
func (m *Matrix) do(ctx context.Context, method string, content, into any, parts ...string) error {
	return m.ask(ctx, httpapi.Call{Method: method, Address: m.address(parts...), Body: httpapi.JSON(content), Answer: into})
}

func (m *Matrix) ask(ctx context.Context, call httpapi.Call) error {
	call.Once = true
	return fault(m.client.Do(ctx, call))
}

// send adds an event to a room, once for each transaction, and returns its id.
func (m *Matrix) send(ctx context.Context, room, kind, transaction string, content any) (id string, err error) {
	var sent struct {
		ID string `json:"event_id"`
	}
	err = m.do(ctx, http.MethodPut, content, &sent, "client", "v3", "rooms", room, "send", kind, transaction)
	if err == nil && sent.ID == "" {
		err = errors.New("the homeserver does not say which event it made")
	}
	return sent.ID, err
}

// upload leaves a file with the homeserver, and returns its address there.
func (m *Matrix) upload(ctx context.Context, file chat.File) (uri string, err error) {
	var uploaded struct {
		URI string `json:"content_uri"`
	}
	err = m.ask(ctx, httpapi.Call{
		Method: http.MethodPost, Address: m.address("media", "v3", "upload"), Query: url.Values{"filename": {file.Name}}, Answer: &uploaded,
		Body: func() (io.Reader, string, error) { return bytes.NewReader(file.Content), "text/plain", nil },
	})
	return uploaded.URI, err
}

// event is one of a room. What it holds may be anything.
func (m *Matrix) event(ctx context.Context, room, id string) (e event, err error) {
	err = m.get(ctx, &e, nil, "client", "v3", "rooms", room, "event", id)
	return e, err
}

// transaction is the id of what a key names, for a homeserver that has it already.
func transaction(what, key string) string {
	sum := sha256.Sum256([]byte(what + "\x00" + key))
	return "bailiff-" + hex.EncodeToString(sum[:16])
}

// unique is the id of what may be done twice.
func unique() string { return "bailiff-" + rand.Text() }

// reason reads why a homeserver says no.
func reason(body []byte) (code, message string) {
	var why struct {
		Code  string `json:"errcode"`
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &why)
	return why.Code, why.Error
}

// after is for how long it does not want to be asked again.
func after(body []byte) time.Duration {
	var why struct {
		Milliseconds int64 `json:"retry_after_ms"`
	}
	_ = json.Unmarshal(body, &why)
	return time.Duration(min(max(why.Milliseconds, 0), time.Hour.Milliseconds())) * time.Millisecond
}

const newToken = "the homeserver does not take the access token: log in anew as bailiff's account, and write the token that you get " +
	"where matrix.token says"

// refusals are what no waiting mends, by the homeserver's word for it.
var refusals = map[string]string{
	"M_UNKNOWN_TOKEN":    newToken,
	"M_MISSING_TOKEN":    newToken,
	"M_USER_DEACTIVATED": "the homeserver has deactivated bailiff's account: give it another one",
	"M_USER_LOCKED":      "the homeserver has locked bailiff's account: ask its administrator",
	"M_USER_SUSPENDED":   "the homeserver has suspended bailiff's account: ask its administrator",
	"M_CONSENT_NOT_GIVEN": "the homeserver wants bailiff's account to agree to its terms first: log in with a client as it, and " +
		"agree",
	"M_RESOURCE_LIMIT_EXCEEDED": "the homeserver has no room for bailiff's account: ask its administrator",
	"M_TOO_LARGE":               "the homeserver takes no file or message as large: raise its limit (in Synapse max_upload_size)",
	"M_FORBIDDEN":               "bailiff's account may not do that: invite it into the room, and let it write there",
}

// fault turns an error into one of package chat's.
func fault(err error) error {
	var refused *httpapi.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	if refused.Status == http.StatusTooManyRequests {
		return &chat.Busy{After: cmp.Or(httpapi.After(err), busyFor)}
	}
	if why, known := refusals[refused.Code]; known {
		return &chat.Refused{Reason: why + " (" + bailiff.Foreign(err.Error()) + ")"}
	}
	return err
}

// isUnknown says whether a homeserver does not have what it was asked for, or does not
// show it.
func isUnknown(err error) bool { return httpapi.Status(err) == http.StatusNotFound }

// isFinal says whether a homeserver said no for good to what it was asked.
func isFinal(err error) bool {
	status := httpapi.Status(err)
	return isRefused(err) || status >= 400 && status < 500 && status != http.StatusRequestTimeout
}

// isRefused says whether the homeserver will not do it.
func isRefused(err error) bool {
	var refused *chat.Refused
	return errors.As(err, &refused)
}
