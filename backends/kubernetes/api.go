package kubernetes

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

	"k8s.io/client-go/rest"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/backends"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// Bounds on what the API is asked and may answer.
const (
	askTime    = 30 * time.Second
	mostAnswer = 64 << 20
	mostTries  = 4
)

// refusal is what the API answered in the place of what it was asked for.
type refusal struct {
	status  int
	Reason  string
	Message string
	after   time.Duration
}

func (r *refusal) Error() string {
	return fmt.Sprintf("the cluster answers %d: %s", r.status, bailiff.Foreign(r.Message))
}

func statusOf(err error) int {
	var refused *refusal
	if errors.As(err, &refused) {
		return refused.status
	}
	return 0
}

// connect reads how the cluster is reached, unless it was read.
func (b *Backend) connect() error {
	b.connecting.Lock()
	defer b.connecting.Unlock()
	if b.client != nil {
		return nil
	}
	to, err := b.cfg.cluster()
	if err != nil {
		return err
	}
	base, _, err := rest.DefaultServerUrlFor(to)
	if err != nil {
		return fmt.Errorf("%w: reading the cluster's address: %w", backends.ErrUnavailable, err)
	}
	client, err := rest.HTTPClientFor(to)
	if err != nil {
		return fmt.Errorf("%w: reading the cluster's credentials: %w", backends.ErrUnavailable, err)
	}
	streaming := rest.CopyConfig(to)
	streaming.NextProtos = []string{"http/1.1"} // which alone can be upgraded
	upgrade, err := rest.HTTPClientFor(streaming)
	if err != nil {
		return fmt.Errorf("%w: reading the cluster's credentials: %w", backends.ErrUnavailable, err)
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // no other server gets the token
	client.CheckRedirect, upgrade.CheckRedirect = stay, stay
	b.base, b.client, b.upgrade = base, client, upgrade
	return nil
}

// address is where a resource of the namespace is.
func (b *Backend) address(path string, query url.Values) string {
	at := b.base.JoinPath("/api/v1/namespaces/", url.PathEscape(b.cfg.Namespace), path)
	at.RawQuery = query.Encode()
	return at.String()
}

// ask asks for a resource of the namespace. What the API was too busy for is asked again.
func (b *Backend) ask(ctx context.Context, method, path string, query url.Values, body, into any) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	for try := 1; ; try++ {
		err := b.askOnce(ctx, method, path, query, body, into)
		var refused *refusal
		if !errors.As(err, &refused) || refused.status != http.StatusTooManyRequests || try == mostTries {
			return err
		}
		if httpapi.Wait(ctx, max(refused.after, time.Duration(try)*100*time.Millisecond)) != nil {
			return err
		}
	}
}

func (b *Backend) askOnce(ctx context.Context, method, path string, query url.Values, body, into any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	answer, err := b.send(ctx, method, path, query, sent)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if into == nil {
		return nil
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, mostAnswer)).Decode(into); err != nil {
		return fmt.Errorf("%w: reading what the cluster answered: %w", backends.ErrUnavailable, err)
	}
	return nil
}

// send returns an answer that is no refusal.
func (b *Backend) send(ctx context.Context, method, path string, query url.Values, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, b.address(path, query), body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	answer, err := b.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: reaching the cluster: %w", backends.ErrUnavailable, bailiff.ForeignError(err))
	}
	if answer.StatusCode < 300 {
		return answer, nil
	}
	defer answer.Body.Close()
	return nil, refusalOf(answer)
}

func refusalOf(answer *http.Response) error {
	said := &refusal{status: answer.StatusCode}
	_ = json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(said) // something on the way may have answered
	if seconds, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		said.after = time.Duration(seconds) * time.Second
	}
	return fmt.Errorf("%w: %w", backends.ErrUnavailable, said)
}

// watch tells of a pod as it is and whenever it changes, until told enough.
func (b *Backend) watch(ctx context.Context, name string, tell func(p pod, gone bool) (bool, error)) error {
	query := url.Values{"watch": {"true"}, "fieldSelector": {"metadata.name=" + name}, "timeoutSeconds": {"60"}}
	for {
		var now pod
		err := b.ask(ctx, http.MethodGet, "pods/"+name, nil, nil, &now)
		gone := statusOf(err) == http.StatusNotFound
		if err != nil && !gone {
			return err
		}
		if enough, err := tell(now, gone); enough || err != nil {
			return err
		}
		query.Set("resourceVersion", now.Metadata.ResourceVersion)
		if gone {
			query.Del("resourceVersion")
		}
		if enough, err := b.follow(ctx, query, tell); enough || err != nil {
			return err
		}
		if err := httpapi.Wait(ctx, pause); err != nil {
			return err
		}
	}
}

// follow is one stream of changes, which the API ends after a while.
func (b *Backend) follow(ctx context.Context, query url.Values, tell func(p pod, gone bool) (bool, error)) (bool, error) {
	answer, err := b.send(ctx, http.MethodGet, "pods", query, nil)
	if err != nil {
		if status := statusOf(err); status == http.StatusGone || status == http.StatusTooManyRequests || status >= 500 {
			return false, nil
		}
		return false, err
	}
	defer answer.Body.Close()
	for changes := json.NewDecoder(answer.Body); ; {
		var change struct {
			Type   string
			Object pod
		}
		if err := changes.Decode(&change); err != nil {
			return false, ctx.Err()
		}
		if change.Type == "ERROR" {
			return false, nil
		}
		if change.Type == "BOOKMARK" {
			continue
		}
		if enough, err := tell(change.Object, change.Type == "DELETED"); enough || err != nil {
			return true, err
		}
	}
}
