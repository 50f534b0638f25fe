package slacktest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
)

// post is where calls by HTTP go.
type post struct {
	s   *Server
	url string
}

// CallAt has everything delivered by HTTP, at an address, from now on. It waits until
// a server listens there.
func (s *Server) CallAt(address string) {
	s.tb.Helper()
	at, err := url.Parse(address)
	if err != nil {
		s.tb.Fatal(err)
	}
	backendtest.Await(s.tb, "a server listens at "+address, func() bool {
		conn, err := net.Dial("tcp", at.Host)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	s.post = &post{s, address}
}

// Sign is the header of a call that Slack makes at a time.
func Sign(kind string, body []byte, at time.Time) http.Header {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(SigningSecret))
	fmt.Fprintf(mac, "v0:%s:%s", stamp, body)
	return http.Header{"Content-Type": {kind}, "X-Slack-Request-Timestamp": {stamp},
		"X-Slack-Signature": {"v0=" + hex.EncodeToString(mac.Sum(nil))}}
}

// retries are how often Slack calls again with an event that was not taken.
const retries = 3

func (p *post) send(kind string, body map[string]any, text []byte) {
	content := "application/json"
	switch kind {
	case "interactive":
		content, text = "application/x-www-form-urlencoded", []byte(url.Values{"payload": {string(text)}}.Encode())
	case "slash_commands":
		values := url.Values{}
		for key, value := range body {
			values.Set(key, fmt.Sprint(value))
		}
		content, text = "application/x-www-form-urlencoded", []byte(values.Encode())
	}
	for attempt := range retries + 1 {
		if p.once(content, text, attempt) || kind != "events_api" {
			return
		}
	}
}

// once calls; each attempt is signed anew, a second of its own.
func (p *post) once(content string, text []byte, attempt int) (taken bool) {
	request, err := http.NewRequest(http.MethodPost, p.url, bytes.NewReader(text))
	if err != nil {
		p.s.tb.Error(err)
		return true
	}
	request.Header = Sign(content, text, time.Now().Add(time.Duration(attempt)*time.Second))
	if attempt > 0 {
		request.Header.Set("X-Slack-Retry-Num", strconv.Itoa(attempt))
		request.Header.Set("X-Slack-Retry-Reason", "http_error")
	}
	client := http.Client{Timeout: ackTime}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
