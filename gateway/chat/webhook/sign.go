package webhook

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

const (
	timestampHeader = "Bailiff-Timestamp"
	signatureHeader = "Bailiff-Signature"
	// window is how far a signature's time may be from now, into either direction.
	window = 5 * time.Minute
)

// Sign is the signature of a body that is sent at a time, in seconds since 1970.
func Sign(secret bailiff.Secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write([]byte(timestamp + "."))
	mac.Write(body)
	return "v1=" + hex.EncodeToString(mac.Sum(nil))
}

// call sends a signed body.
func call(url string, secret bailiff.Secret, body []byte, into any) httpapi.Call {
	now := strconv.FormatInt(time.Now().Unix(), 10)
	header := http.Header{}
	header.Set(timestampHeader, now)
	header.Set(signatureHeader, Sign(secret, now, body))
	return httpapi.Call{
		Method: http.MethodPost, Address: url, Header: header, Answer: into, Once: true,
		Body: func() (io.Reader, string, error) { return bytes.NewReader(body), "application/json", nil },
	}
}

// reason reads why the other side says no.
func reason(body []byte) (code, message string) {
	var why struct{ Code, Message string }
	_ = json.Unmarshal(body, &why)
	return why.Code, why.Message
}

// busyFor is the wait for a busy service that names none.
const busyFor = 5 * time.Second

// fault turns an error into one of package chat's.
func fault(err error) error {
	var refused *httpapi.Refusal
	if !errors.As(err, &refused) {
		return err
	}
	switch status := refused.Status; {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && refused.After > 0:
		return &chat.Busy{After: cmp.Or(httpapi.After(err), busyFor)}
	case status == http.StatusGone:
		return chat.ErrGone
	case status == http.StatusRequestTimeout, status >= http.StatusInternalServerError:
		return err
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return &chat.Refused{Reason: "the webhook does not take bailiff's signature or token: give both sides the same webhook.secret, " +
			"and set both clocks (" + bailiff.Foreign(err.Error()) + ")"}
	}
	return &chat.Refused{Reason: "the webhook does not take what it is sent: see that webhook.url is right, and that it understands " +
		"what docs/chat/webhook.md tells (" + bailiff.Foreign(err.Error()) + ")"}
}
