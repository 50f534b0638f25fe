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
			// A long poll is silent for long: pings find out that a connection is broken.
			HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// apiCall is one call of the Bot API. The library writes the request and reads the answer;
// both pass through Do, so that an answer's length is limited, a refusal is understood, and
// no error holds the address.
type apiCall struct {
	http  *http.Client
	token bailiff.Secret
	url   string
	// answer is the result of a call that succeeded, failed the error of one that did not.
	answer json.RawMessage
	failed error
}

// apiError is a refusal by the service.
type apiError struct {
	code        int
	description string
	after       time.Duration
	// moved is the id that a group has now.
	moved int64
}

func (f *apiError) Error() string {
	return fmt.Sprintf("Telegram answered %d: %s", f.code, f.description)
}

// apiResponse is the outer object of each answer.
type apiResponse struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	Code        int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		After int   `json:"retry_after"`
		Moved int64 `json:"migrate_to_chat_id"`
	} `json:"parameters"`
}

func (t *Telegram) begin() (*apiCall, error) {
	token, err := t.config.Token()
	if err != nil {
		return nil, fmt.Errorf("reading the bot's token: %w", err)
	}
	if !tokens.MatchString(token.Reveal()) {
		return nil, &apiError{code: http.StatusUnauthorized, description: "what is configured as the bot's token is none"}
	}
	return &apiCall{http: t.http, token: token, url: t.config.URL}, nil
}

// ask calls one method of the library, once, and reads the answer into into, unless that is
// nil. The library's types do not read the answer: they fail at fields that are newer than
// they are, although the call had its effect.
func ask[P, A any](ctx context.Context, t *Telegram, method func(*bot.Bot, context.Context, P) (A, error), params P, into any) error {
	x, err := t.begin()
	if err != nil {
		return err
	}
	if err = callLibrary(ctx, x, method, params); x.answer == nil {
		return x.callError(err)
	}
	return x.read(into)
}

// errAnswer is an answer without a message's id: the message may be shown.
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

func callLibrary[P, A any](ctx context.Context, x *apiCall, method func(*bot.Bot, context.Context, P) (A, error), params P) error {
	ctx, cancel := context.WithTimeout(ctx, longestCall)
	defer cancel()
	b, err := bot.New(x.token.Reveal(), bot.WithSkipGetMe(), bot.WithServerURL(x.url), bot.WithHTTPClient(longestCall, x),
		bot.WithUpdatesChannelCap(0), bot.WithErrorsHandler(func(error) {}))
	if err == nil {
		_, err = method(b, ctx, params)
	}
	return err
}

// noParams are the parameters of a method without any, and withoutParams lets it take them.
type noParams struct{}

func withoutParams[A any](method func(*bot.Bot, context.Context) (A, error)) func(*bot.Bot, context.Context, noParams) (A, error) {
	return func(b *bot.Bot, ctx context.Context, _ noParams) (A, error) { return method(b, ctx) }
}

// updates asks for new updates. The library's own loop is no use: it confirms updates that
// it has not handed on yet.
func (t *Telegram) updates(ctx context.Context, offset int64, wait time.Duration) ([]json.RawMessage, error) {
	x, err := t.begin()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, wait+longestCall/2)
	defer cancel()
	body, err := json.Marshal(map[string]any{"offset": offset, "timeout": int(wait.Seconds()), "allowed_updates": allowedUpdates})
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
func (x *apiCall) Do(request *http.Request) (*http.Response, error) {
	request.Header.Set("User-Agent", "bailiff")
	response, err := x.http.Do(request)
	if err != nil {
		x.failed = x.networkError(err)
		return nil, x.failed
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, answerBytes+1))
	switch {
	case err != nil:
		x.failed = x.networkError(err)
	case len(body) > answerBytes:
		x.failed = errors.New("reading Telegram's answer: it is too long")
	default:
		x.failed = x.parse(response, body)
	}
	if x.failed != nil {
		return nil, x.failed
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// read reads the result.
func (x *apiCall) read(into any) error {
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(x.answer, into); err != nil {
		return x.callError(err)
	}
	return nil
}

// parse keeps the result, or returns the refusal. An answer that is not the Bot API's comes
// from a proxy, and may not come again.
func (x *apiCall) parse(response *http.Response, body []byte) error {
	var a apiResponse
	err := json.Unmarshal(body, &a)
	after, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	switch {
	case err == nil && a.OK:
		x.answer = append([]byte{}, a.Result...)
		return nil
	case response.StatusCode == http.StatusTooManyRequests || a.Code == http.StatusTooManyRequests:
		return &apiError{code: http.StatusTooManyRequests, description: "too many requests",
			after: retryAfter(max(a.Parameters.After, after))}
	case err != nil || a.Code == 0:
		return fmt.Errorf("something that is not the Bot API answered %d for Telegram", response.StatusCode)
	}
	return &apiError{code: a.Code, description: bailiff.Foreign(a.Description, x.token), moved: a.Parameters.Moved}
}

// longestWait is the longest wait that the service may ask for.
const longestWait = time.Hour

func retryAfter(seconds int) time.Duration {
	return time.Duration(min(max(seconds, 1), int(longestWait/time.Second))) * time.Second
}

// networkError is an error of the connection without the address, which holds the token.
func (x *apiCall) networkError(err error) error {
	var addressed *url.Error
	if errors.As(err, &addressed) {
		err = addressed.Err
	}
	return fmt.Errorf("reaching Telegram: %w", bailiff.ForeignError(err, x.token))
}

// callError is the error of a call, without the library's words around it.
func (x *apiCall) callError(err error) error {
	if x.failed != nil {
		return x.failed
	}
	return errors.New("reading Telegram's answer: " + bailiff.Foreign(err.Error(), x.token))
}

// chatError turns an error into one of package chat's.
func chatError(err error) error {
	var f *apiError
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.code == http.StatusTooManyRequests:
		return &chat.Busy{After: f.after}
	case f.moved != 0:
		return &chat.Refused{Reason: fmt.Sprintf("the group has become a supergroup, whose id is %d: put that where the old one stands",
			f.moved)}
	case isUnknownBot(f):
		return &chat.Refused{Reason: "Telegram does not know the bot's token (" + f.description +
			"): want the one that BotFather shows, as 123456:ABC…"}
	case f.code == http.StatusBadRequest && f.contains("message to edit not found", "message can't be edited", "MESSAGE_ID_INVALID"):
		return chat.ErrGone
	case f.code == http.StatusBadRequest && f.contains("chat not found", "PEER_ID_INVALID"):
		return &chat.Refused{Reason: "Telegram does not know the chat, or the bot is not in it (" + f.description +
			"): add the bot to it, and look at the chat's id"}
	case f.code == http.StatusForbidden:
		return &chat.Refused{Reason: "Telegram does not let the bot write there (" + f.description +
			"): add it to the chat again, or have the person start it"}
	case f.code == http.StatusBadRequest, f.code == http.StatusRequestEntityTooLarge:
		return &chat.Refused{Reason: "Telegram will not do it: " + f.description}
	}
	return err
}

// isUnknownBot says whether the service does not know the bot.
func isUnknownBot(err error) bool {
	var f *apiError
	return errors.As(err, &f) && (f.code == http.StatusUnauthorized || f.code == http.StatusNotFound)
}

// isUnchanged says whether an edit was refused since the message shows that already.
func isUnchanged(err error) bool {
	var f *apiError
	return errors.As(err, &f) && f.code == http.StatusBadRequest && f.contains("message is not modified")
}

func (f *apiError) contains(any ...string) bool {
	for _, words := range any {
		if strings.Contains(strings.ToLower(f.description), strings.ToLower(words)) {
			return true
		}
	}
	return false
}
