package telegram

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"

	"github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// answerBytes bounds an answer: a hundred updates, each of a long text and what it is a
// reply to.
const answerBytes = 8 << 20

// tokens are as BotFather gives them. No other one gets into an address.
var tokens = regexp.MustCompile(`^[0-9]{1,20}:[A-Za-z0-9_-]{10,120}$`)

func newHTTP() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        90 * time.Second,
			MaxIdleConnsPerHost:    8,
			MaxResponseHeaderBytes: 64 << 10,
			ForceAttemptHTTP2:      true,
			// A question for what is new says nothing for long: so it is found out that nobody is there.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exchange is one call. The library writes the question and reads the answer; what goes
// over the wire between the two passes here, so that an answer is bounded, a refusal is
// understood, and no error holds an address.
type exchange struct {
	http  *http.Client
	token bailiff.Secret
	url   string
	// answer is the result if the answer is a yes, failed what went wrong otherwise.
	answer json.RawMessage
	failed error
}

// fault is what the service says no with.
type fault struct {
	code  int
	words string
	after time.Duration
	// moved is the id that a group has now.
	moved int64
}

func (f *fault) Error() string { return fmt.Sprintf("Telegram answered %d: %s", f.code, f.words) }

// answered is how every answer begins.
type answered struct {
	OK         bool            `json:"ok"`
	Result     json.RawMessage `json:"result"`
	Code       int             `json:"error_code"`
	Words      string          `json:"description"`
	Parameters struct {
		After int   `json:"retry_after"`
		Moved int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (t *Telegram) begin() (*exchange, error) {
	token, err := t.config.Token()
	if err != nil {
		return nil, fmt.Errorf("reading the bot's token: %w", err)
	}
	if !tokens.MatchString(token.Reveal()) {
		return nil, &fault{code: http.StatusUnauthorized, words: "what is configured as the bot's token is none"}
	}
	return &exchange{http: t.http, token: token, url: t.config.URL}, nil
}

// ask calls one method of the library, once, and reads the answer; into is nil where it
// matters only that it is a yes. It is not read by the library's types: they cannot read
// what is newer than they are, and what was done stays done.
func ask[P, A any](ctx context.Context, t *Telegram, method func(*bot.Bot, context.Context, P) (A, error), params P, into any) error {
	x, err := t.begin()
	if err != nil {
		return err
	}
	if err = through(ctx, x, method, params); x.answer == nil {
		return x.plain(err)
	}
	return x.read(into)
}

// errAnswer is a yes to nothing: what was sent may be shown.
var errAnswer = errors.New("the answer of Telegram names no message")

// send calls a method that shows a message, and returns its id.
func send[P, A any](ctx context.Context, t *Telegram, method func(*bot.Bot, context.Context, P) (A, error), params P) (int, error) {
	var shown models.MessageID
	err := ask(ctx, t, method, params, &shown)
	if err == nil && shown.ID == 0 {
		err = errAnswer
	}
	return shown.ID, err
}

func through[P, A any](ctx context.Context, x *exchange, method func(*bot.Bot, context.Context, P) (A, error), params P) error {
	ctx, cancel := context.WithTimeout(ctx, longestCall)
	defer cancel()
	b, err := bot.New(x.token.Reveal(), bot.WithSkipGetMe(), bot.WithServerURL(x.url), bot.WithHTTPClient(longestCall, x),
		bot.WithUpdatesChannelCap(0), bot.WithErrorsHandler(func(error) {}))
	if err == nil {
		_, err = method(b, ctx, params)
	}
	return err
}

// nothing is what a method takes that takes nothing, and bare makes it one that does.
type nothing struct{}

func bare[A any](method func(*bot.Bot, context.Context) (A, error)) func(*bot.Bot, context.Context, nothing) (A, error) {
	return func(b *bot.Bot, ctx context.Context, _ nothing) (A, error) { return method(b, ctx) }
}

// updates asks for what is new. The library has no call for it: its own loop confirms
// what it has not handed on yet.
func (t *Telegram) updates(ctx context.Context, offset int64, wait time.Duration) ([]json.RawMessage, error) {
	x, err := t.begin()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait+longestCall/2)
	defer cancel()
	body, err := json.Marshal(map[string]any{"offset": offset, "timeout": int(wait.Seconds()), "allowed_updates": wanted})
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, x.url+"/bot"+x.token.Reveal()+"/getUpdates", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("asking Telegram: its address is none")
	}
	request.Header.Set("Content-Type", "application/json")
	if _, err = x.Do(request); err != nil {
		return nil, err
	}
	var news []json.RawMessage
	return news, x.read(&news)
}

// Do is called by the library.
func (x *exchange) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", "bailiff")
	response, err := x.http.Do(request)
	if err != nil {
		x.failed = x.lost(err)
		return nil, x.failed
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytes+1))
	switch {
	case err != nil:
		x.failed = x.lost(err)
	case len(body) > answerBytes:
		x.failed = errors.New("reading Telegram's answer: it is too long")
	default:
		x.failed = x.judge(response, body)
	}
	if x.failed != nil {
		return nil, x.failed
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// read reads the result.
func (x *exchange) read(into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(x.answer, into); err != nil {
		return x.plain(err)
	}
	return nil
}

// judge keeps the result, or says why an answer is no. One that is not the Bot API's comes from something in
// between, so it may pass.
func (x *exchange) judge(response *http.Response, body []byte) error {
	var a answered
	err := json.Unmarshal(body, &a)
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	switch {
	case err == nil && a.OK:
		x.answer = append([]byte{}, a.Result...)
		return nil
	case response.StatusCode == http.StatusTooManyRequests || a.Code == http.StatusTooManyRequests:
		return &fault{code: http.StatusTooManyRequests, words: "too many requests", after: waiting(max(a.Parameters.After, after))}
	case err != nil || a.Code == 0:
		return fmt.Errorf("something that is not the Bot API answered %d for Telegram", response.StatusCode)
	}
	return &fault{code: a.Code, words: bailiff.Foreign(a.Words, x.token), moved: a.Parameters.Moved}
}

// longestWait is waited where the service wants more.
const longestWait = time.Hour

func waiting(seconds int) time.Duration {
	return time.Duration(min(max(seconds, 1), int(longestWait/time.Second))) * time.Second
}

// lost words a fault of the way there, without the address, which holds the token.
func (x *exchange) lost(err error) error {
	var addressed *url.Error
	if errors.As(err, &addressed) {
		err = addressed.Err
	}
	return fmt.Errorf("reaching Telegram: %w", bailiff.ForeignError(err, x.token))
}

// plain is what went wrong, without the library's words around it.
func (x *exchange) plain(err error) error {
	if x.failed != nil {
		return x.failed
	}
	return errors.New("reading Telegram's answer: " + bailiff.Foreign(err.Error(), x.token))
}

// told is a failure as package chat has it.
func told(err error) error {
	var f *fault
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.code == http.StatusTooManyRequests:
		return &chat.Busy{After: f.after}
	case f.moved != 0:
		return &chat.Refused{Reason: fmt.Sprintf("the group has become a supergroup, whose id is %d: put that where the old one stands", f.moved)}
	case unknown(f):
		return &chat.Refused{Reason: "Telegram does not know the bot's token (" + f.words + "): want the one that BotFather shows, as 123456:ABC…"}
	case f.code == http.StatusBadRequest && f.says("message to edit not found", "message can't be edited", "MESSAGE_ID_INVALID"):
		return chat.ErrGone
	case f.code == http.StatusBadRequest && f.says("chat not found", "PEER_ID_INVALID"):
		return &chat.Refused{Reason: "Telegram does not know the chat, or the bot is not in it (" + f.words + "): add the bot to it, and look at the chat's id"}
	case f.code == http.StatusForbidden:
		return &chat.Refused{Reason: "Telegram does not let the bot write there (" + f.words + "): add it to the chat again, or have the person start it"}
	case f.code == http.StatusBadRequest, f.code == http.StatusRequestEntityTooLarge:
		return &chat.Refused{Reason: "Telegram will not do it: " + f.words}
	}
	return err
}

// unknown says whether the service will have nothing to do with the bot.
func unknown(err error) bool {
	var f *fault
	return errors.As(err, &f) && (f.code == http.StatusUnauthorized || f.code == http.StatusNotFound)
}

// unchanged says whether a message is refused for being what is shown already.
func unchanged(err error) bool {
	var f *fault
	return errors.As(err, &f) && f.code == http.StatusBadRequest && f.says("message is not modified")
}

func (f *fault) says(any ...string) bool {
	for _, words := range any {
		if strings.Contains(strings.ToLower(f.words), strings.ToLower(words)) {
			return true
		}
	}
	return false
}
