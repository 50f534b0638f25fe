package egress

import (
	"context"
	"io"
	"net/http"

	"github.com/bailiff-dev/bailiff"
)

const megabyte = 1 << 20

// tighter are the limits that both keep.
func tighter(a, b bailiff.ConnectionLimits) bailiff.ConnectionLimits {
	return bailiff.ConnectionLimits{UploadMB: least(a.UploadMB, b.UploadMB), DownloadMB: least(a.DownloadMB, b.DownloadMB)}
}

// least is the lesser of two bounds, of which zero is none.
func least(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// bounded reads so many bytes, and then fails.
type bounded struct {
	from io.Reader
	left int64
	over func() *refusal
}

// Read reads what may pass.
func (b *bounded) Read(to []byte) (int, error) {
	n, err := b.from.Read(to)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.over()
	}
	return n, err
}

// upload bounds what a program sends, download what it receives.
func (p *Proxy) upload(ctx context.Context, from io.Reader, c bailiff.Connection, most bailiff.ConnectionLimits) io.Reader {
	if most.UploadMB == 0 {
		return from
	}
	return &bounded{from, int64(most.UploadMB) * megabyte, func() *refusal { return p.recordRefusal(ctx, c, tooMuchSent(c)) }}
}

func (p *Proxy) download(ctx context.Context, from io.Reader, c bailiff.Connection, most bailiff.ConnectionLimits) io.Reader {
	if most.DownloadMB == 0 {
		return from
	}
	return &bounded{from, int64(most.DownloadMB) * megabyte, func() *refusal { return p.recordRefusal(ctx, c, downloadRefusal(c)) }}
}

func tooMuchSent(c bailiff.Connection) *refusal {
	no := refuse(c, ruleTooMuch, "It sends more than the policies let pass to this host.", "Send less at once.")
	no.status = http.StatusRequestEntityTooLarge
	return no
}

func downloadRefusal(c bailiff.Connection) *refusal {
	return refuse(c, ruleTooMuch, "The answer is longer than the policies let pass from this host.", "Ask for less at once.")
}

// bound bounds the body of a request, and refuses one that says that it is longer.
func (p *Proxy) bound(ctx context.Context, r *http.Request, c bailiff.Connection, most bailiff.ConnectionLimits) *refusal {
	if most.UploadMB == 0 || r.Body == nil {
		return nil
	}
	if r.ContentLength > int64(most.UploadMB)*megabyte {
		return p.recordRefusal(ctx, c, tooMuchSent(c))
	}
	r.Body = body{p.upload(ctx, r.Body, c, most), r.Body}
	return nil
}

// boundAnswer does the same to an answer.
func (p *Proxy) boundAnswer(ctx context.Context, answer *http.Response, c bailiff.Connection, most bailiff.ConnectionLimits) error {
	if most.DownloadMB == 0 || answer.Request.Method == http.MethodHead {
		return nil
	}
	if answer.ContentLength > int64(most.DownloadMB)*megabyte {
		return p.recordRefusal(ctx, c, downloadRefusal(c))
	}
	answer.Body = body{p.download(ctx, answer.Body, c, most), answer.Body}
	return nil
}

// body is one that is read by another reader than it is closed by.
type body struct {
	io.Reader
	io.Closer
}
