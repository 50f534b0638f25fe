package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	// answerTime bounds a request, answerBytes what is read of its answer.
	answerTime  = 30 * time.Second
	answerBytes = 8 << 20
	// busyTime is how long to wait where Discord does not say, busyMost where it says too much.
	busyTime = 5 * time.Second
	busyMost = time.Hour
)

// agent is what Discord wants every bot to call itself.
const agent = "DiscordBot (https://github.com/bailiff-dev/bailiff, 1)"

// do asks the API once.
func (d *Discord) do(ctx context.Context, method, path string, in, out any) error {
	if in == nil {
		return d.send(ctx, method, path, "", nil, out)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("asking Discord: %w", err)
	}
	return d.send(ctx, method, path, "application/json", body, out)
}

// upload is do with a file.
func (d *Discord) upload(ctx context.Context, path string, in any, file *chat.File, out any) error {
	files := []*discordgo.File{{Name: file.Name, ContentType: "text/plain; charset=utf-8", Reader: bytes.NewReader(file.Content)}}
	kind, body, err := discordgo.MultipartBodyWithJSON(in, files)
	if err != nil {
		return fmt.Errorf("asking Discord: %w", err)
	}
	return d.send(ctx, http.MethodPost, path, kind, body, out)
}

func (d *Discord) send(ctx context.Context, method, path, kind string, body []byte, out any) error {
	limit := limitKey(method, path)
	if busy := d.gate.check(limit); busy != nil {
		return busy
	}
	token, err := d.cfg.Token()
	if err != nil {
		return err
	}
	// A session and a limiter of its own for each request: nothing is shared, nothing waits.
	session := &discordgo.Session{Token: "Bot " + token.Reveal(), UserAgent: agent, Client: d.http, Ratelimiter: discordgo.NewRatelimiter()}
	answer, err := session.RequestWithLockedBucket(method, d.cfg.URL+path, kind, body,
		session.Ratelimiter.LockBucket(""), 0, discordgo.WithContext(ctx))
	if err == nil && out != nil {
		err = json.Unmarshal(answer, out)
	}
	var later *tooManyRequests
	if errors.As(err, &later) {
		return d.gate.limit(limit, later)
	}
	return explain(err, token)
}

// fault is a no of Discord's.
type fault struct {
	status, code int
	message      string
}

func (f *fault) Error() string { return fmt.Sprintf("Discord answered %d: %s", f.status, f.message) }

// explain removes secrets from an error: the address, which has the
// secrets of interactions, and the token.
func explain(err error, token bailiff.Secret) error {
	if err == nil {
		return nil
	}
	var no *discordgo.RESTError
	if errors.As(err, &no) {
		f := &fault{status: no.Response.StatusCode, message: http.StatusText(no.Response.StatusCode)}
		if no.Message != nil {
			f.code, f.message = no.Message.Code, bailiff.Foreign(no.Message.Message, token)
		}
		return f
	}
	var lost *url.Error
	if errors.As(err, &lost) {
		err = lost.Err
	}
	return fmt.Errorf("asking Discord: %w", bailiff.ForeignError(err, token))
}

func client() *http.Client {
	wire := http.DefaultTransport.(*http.Transport).Clone()
	wire.MaxIdleConnsPerHost = 8
	return &http.Client{
		Transport:     limitedTransport{wire},
		Timeout:       answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// limitedTransport hands the library short answers, in which no limit is left to obey.
type limitedTransport struct{ http.RoundTripper }

func (b limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(response.Body, answerBytes), response.Body}
	for _, limit := range []string{"Remaining", "Reset", "Reset-After", "Global"} {
		response.Header.Del("X-RateLimit-" + limit)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		defer response.Body.Close()
		return nil, busy(response)
	}
	return response, nil
}

// busy reads how long to wait: from the body, which tells it in parts of a second, or
// from the header, which is all that there is from what stands before Discord.
func busy(response *http.Response) *tooManyRequests {
	var body struct {
		RetryAfter float64 `json:"retry_after"`
		Global     bool    `json:"global"`
	}
	isDiscords := json.NewDecoder(response.Body).Decode(&body) == nil
	seconds := body.RetryAfter
	if seconds <= 0 {
		seconds, _ = strconv.ParseFloat(response.Header.Get("Retry-After"), 64)
	}
	after := busyTime
	if seconds > 0 {
		after = time.Duration(min(seconds, busyMost.Seconds()) * float64(time.Second))
	}
	return &tooManyRequests{after, body.Global || !isDiscords}
}

// tries is how often a call is tried that package chat does not try again.
const tries = 5

// retry tries a call a few times, with pauses of about half a second at most.
func (d *Discord) retry(ctx context.Context, try func() error) error {
	return chat.Retry(ctx, tries, d.second/10, try)
}
