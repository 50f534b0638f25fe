package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/bailiff-dev/bailiff"
)

// exchange is one attempt at a call.
type exchange struct {
	*Client
	// secret is what is sent as the credential, which nothing of the answer may
	// repeat; empty if none is sent.
	secret bailiff.Secret
}

func (c *Client) begin() (x exchange, err error) {
	x.Client = c
	if c.cfg.Credential != nil {
		x.secret, err = c.cfg.Credential()
	}
	return x, err
}

func (x exchange) header() http.Header {
	header := http.Header{"User-Agent": {"bailiff"}}
	if token := x.secret.Reveal(); token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	return header
}

// ask returns the body of an answer that says yes, which is to be closed.
func (x exchange) ask(ctx context.Context, call Call) (io.ReadCloser, error) {
	request, err := call.request(ctx)
	if err != nil {
		return nil, fmt.Errorf("asking %s: %w", x.cfg.Name, err)
	}
	maps.Copy(request.Header, x.header())
	response, err := x.http.Do(request)
	if err != nil {
		return nil, x.lost(reaching, err)
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		defer response.Body.Close()
		return nil, x.refused(response)
	}
	if call.Heard != nil {
		call.Heard(response.Header)
	}
	return response.Body, nil
}

// ErrTooLong is the fault of an answer in JSON that is longer than is read.
var ErrTooLong = errors.New("it is too long")

// errAddress does not repeat it.
var errAddress = errors.New("its address is none")

// request makes the body last, which only a request closes.
func (c Call) request(ctx context.Context) (*http.Request, error) {
	address, err := url.Parse(c.Address)
	if err != nil {
		return nil, errAddress
	}
	if c.Query != nil {
		address.RawQuery = c.Query.Encode()
	}
	var content io.Reader
	var kind string
	if c.Body != nil {
		if content, kind, err = c.Body(); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, address.String(), content)
	if err != nil {
		return nil, errAddress
	}
	maps.Copy(request.Header, c.Header)
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	return request, nil
}

// read decodes an answer. Where the caller does not want to know it, what was done is done,
// whatever becomes of the rest: then it is read for the sake of the connection only.
func (x exchange) read(body io.Reader, into any) error {
	if into == nil {
		_, _ = io.CopyN(io.Discard, body, refusalBytes)
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(body, answerBytes+1))
	if err != nil {
		return x.lost(reading, err)
	}
	if len(text) > answerBytes {
		return fmt.Errorf(reading+": %w", x.cfg.Name, ErrTooLong)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf(reading+": %s", x.cfg.Name, x.plain(err))
	}
	return nil
}
