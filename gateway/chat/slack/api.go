package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/gateway/chat"
)

const (
	// answerTime is how long Slack may take to answer, answerBytes bounds an answer.
	answerTime  = 30 * time.Second
	answerBytes = 8 << 20
	// busyTime is waited where Slack does not say how long, busyMost where it says too much.
	busyTime    = 30 * time.Second
	maxBusyTime = time.Hour
)

// httpClient makes HTTP calls for the library: each once, within limits, and without
// following redirects.
type httpClient struct{ http *http.Client }

func newHTTPClient() *httpClient {
	return &httpClient{&http.Client{
		Timeout:       answerTime,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Do is what the library calls.
func (c *httpClient) Do(r *http.Request) (*http.Response, error) {
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode == http.StatusTooManyRequests {
		_ = answer.Body.Close()
		return nil, &chat.Busy{After: retryAfter(answer.Header)}
	}
	answer.Body = limitedBody{io.LimitReader(answer.Body, answerBytes), answer.Body}
	return answer, nil
}

type limitedBody struct {
	io.Reader
	io.Closer
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(strings.TrimSpace(h.Get("Retry-After")))
	if err != nil {
		return busyTime
	}
	return time.Duration(min(max(seconds, 1), int(maxBusyTime/time.Second))) * time.Second
}

// call is the API as one call sees it.
type call struct {
	*slack.Client
	s *Slack
	// secrets are those that it sends, which no error may repeat.
	secrets []bailiff.Secret
}

// begin reads the bot's token.
func (s *Slack) begin() (*call, error) {
	token, err := s.cfg.BotToken()
	if err != nil {
		return nil, fmt.Errorf("reading slack's bot token: %w", err)
	}
	return &call{s.client(token, bailiff.Secret{}), s, []bailiff.Secret{token}}, nil
}

// beginApp reads the app's token too.
func (s *Slack) beginApp() (*call, error) {
	token, err := s.cfg.AppToken()
	if err != nil {
		return nil, fmt.Errorf("reading slack's app token: %w", err)
	}
	return &call{s.client(bailiff.Secret{}, token), s, []bailiff.Secret{token}}, nil
}

func (s *Slack) client(bot, app bailiff.Secret) *slack.Client {
	return slack.New(bot.Reveal(), slack.OptionAppLevelToken(app.Reveal()), slack.OptionAPIURL(s.cfg.URL), slack.OptionHTTPClient(s.api))
}

// do calls a method of whose answer little is wanted: what else it holds, and people can
// put much into a history, is not even read.
func (c *call) do(ctx context.Context, method string, arguments url.Values, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.s.cfg.URL+method, strings.NewReader(arguments.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Authorization", "Bearer "+c.secrets[0].Reveal())
	response, err := c.s.api.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return slack.StatusCodeError{Code: response.StatusCode, Status: response.Status}
	}
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var verdict slack.SlackResponse
	if err := json.Unmarshal(text, &verdict); err != nil {
		return err
	}
	if !verdict.Ok {
		return slack.SlackErrorResponse{Err: verdict.Error, Needed: verdict.Needed}
	}
	return json.Unmarshal(text, answer)
}

// fault words an error of Slack's as the callers of a platform know them.
func (c *call) fault(doing string, err error) error {
	var busy *chat.Busy
	var refused *chat.Refused
	if err == nil || errors.As(err, &busy) || errors.As(err, &refused) {
		return err
	}
	var no slack.SlackErrorResponse
	if !errors.As(err, &no) {
		return fmt.Errorf("%s: %w", doing, bailiff.ForeignError(withoutURL(err), c.secrets...))
	}
	reason, known := refusals[no.Err]
	switch {
	case slices.Contains(rushes, no.Err):
		return &chat.Busy{After: busyTime}
	case slices.Contains(gone, no.Err):
		return chat.ErrGone
	case no.Err == "missing_scope":
		return &chat.Refused{Reason: "the app lacks the scope " + bailiff.Foreign(no.Needed) +
			": add it to the bot's scopes under OAuth & Permissions, and install the app again"}
	case known:
		return &chat.Refused{Reason: reason}
	}
	return fmt.Errorf("%s: Slack says %s", doing, bailiff.Foreign(no.Err, c.secrets...))
}

// withoutURL removes the address from an error: some addresses let their holder write.
func withoutURL(err error) error {
	var addressed *url.Error
	if errors.As(err, &addressed) {
		return addressed.Err
	}
	return err
}

var (
	rushes = []string{"ratelimited", "rate_limited", "message_limit_exceeded"}
	gone   = []string{"message_not_found", "cant_update_message", "edit_window_closed"}
	// halfway are the answers after which what was asked may have happened.
	halfway = []string{"fatal_error", "internal_error", "request_timeout", "service_unavailable"}
)

const (
	badToken = "Slack does not know this token: copy it anew from the app's page OAuth & Permissions (xoxb-…), the one for Socket Mode " +
		"from Basic Information (xapp-…)"
	oldToken  = "the token was revoked, or the app removed from the workspace: install the app again, and copy its new token"
	malformed = "Slack takes this message for malformed, which is a fault of bailiff's: please report it"
	elsewhere = "the workspace's settings forbid the app to do that: ask who administers it"
)

// refusals say what an operator must change for each error that stays until they do.
var refusals = map[string]string{
	"not_authed":                               badToken,
	"invalid_auth":                             badToken,
	"not_allowed_token_type":                   "this is the wrong kind of token: bot_token is xoxb-…, app_token is xapp-…",
	"token_revoked":                            oldToken,
	"token_expired":                            oldToken,
	"account_inactive":                         oldToken,
	"access_denied":                            elsewhere,
	"no_permission":                            elsewhere,
	"org_login_required":                       elsewhere,
	"ekm_access_denied":                        elsewhere,
	"team_access_not_granted":                  elsewhere,
	"restricted_action":                        elsewhere,
	"restricted_action_read_only_channel":      elsewhere,
	"restricted_action_thread_only_channel":    elsewhere,
	"restricted_action_non_threadable_channel": elsewhere,
	"restricted_action_thread_locked":          elsewhere,
	"forbidden_team":                           elsewhere,
	"posting_to_channel_denied":                elsewhere,
	"file_uploads_disabled":                    "the workspace takes no files: ask who administers it",
	"channel_not_found": "there is no such channel, or it is private and the app is not in it: invite the bot " +
		"(/invite @bailiff), and use the channel's id (C…)",
	"not_in_channel":          "the app is not in the channel: invite the bot (/invite @bailiff)",
	"user_not_in_channel":     "who is to be told is not in the channel",
	"is_archived":             "the channel is archived: unarchive it or choose another",
	"messages_tab_disabled":   "nobody can write to the app: turn on the Messages Tab under App Home",
	"cannot_dm_bot":           "bots cannot be written to",
	"thread_not_found":        "the thread is no more",
	"cannot_reply_to_message": "this message can have no thread",
	"invalid_blocks":          malformed,
	"invalid_blocks_format":   malformed,
	"msg_too_long":            malformed,
	"msg_blocks_too_long":     malformed,
	"too_many_attachments":    malformed,
	"no_text":                 malformed,
	"invalid_arguments":       malformed,
	"invalid_metadata_format": malformed,
	"invalid_metadata_schema": malformed,
	"metadata_too_large":      malformed,
}

// mayHaveSucceeded says whether a call that failed so may have had its effect.
func mayHaveSucceeded(err error) bool {
	var busy *chat.Busy
	var no slack.SlackErrorResponse
	var dial *net.OpError
	switch {
	case errors.As(err, &busy):
		return false
	case errors.As(err, &no):
		return slices.Contains(halfway, no.Err)
	case errors.As(err, &dial) && dial.Op == "dial":
		return false
	}
	return true
}
