package vercel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
)

// What is asked of Vercel, and as far as it matters here what it answers. A named
// sandbox is what has a name and settings, a session its machine while it runs.

type wanted struct {
	Project   string            `json:"projectId"`
	Name      string            `json:"name"`
	Ports     []int             `json:"ports"`
	Timeout   int64             `json:"timeout"`
	Resources resources         `json:"resources"`
	Image     string            `json:"image"`
	Network   network           `json:"networkPolicy"`
	Tags      map[string]string `json:"tags"`
	Mounts    map[string]mount  `json:"mounts,omitempty"`
	Region    string            `json:"region"`
	// Persistent is false: else Vercel copies the disk of each machine that ends.
	Persistent bool `json:"persistent"`
}

type resources struct {
	VCPUs int `json:"vcpus"`
}

type network struct {
	Mode string `json:"mode"`
}

type mount struct {
	Drive string `json:"drive"`
	Mode  string `json:"mode"`
}

// named is a sandbox as Vercel lists it.
type named struct {
	Name       string `json:"name"`
	Status     string `json:"status"`
	Persistent bool   `json:"persistent"`
	Image      string `json:"image"`
}

// session is a machine.
type session struct {
	ID      string  `json:"id"`
	Status  string  `json:"status"`
	VCPUs   int     `json:"vcpus"`
	Memory  int     `json:"memory"`
	Timeout int64   `json:"timeout"`
	Network network `json:"networkPolicy"`
}

type made struct {
	Sandbox named   `json:"sandbox"`
	Session session `json:"session"`
}

type drive struct {
	Name    string `json:"name"`
	Session string `json:"currentSessionId"`
	Sandbox string `json:"currentSandboxName"`
}

// pagination says where a list goes on; null at its end.
type pagination struct {
	Next string `json:"next"`
}

// mostListed is what one page can have.
const mostListed = 50

// create makes a sandbox of that name and starts its machine. It is never asked
// twice unless Vercel says that it did nothing.
func (c *client) create(ctx context.Context, w wanted) (m made, err error) {
	return m, c.do(ctx, httpapi.Call{Method: http.MethodPost, Address: "/v3/sandboxes", Body: httpapi.JSON(w), Answer: &m})
}

func (c *client) session(ctx context.Context, id string) (session, error) {
	var answer struct{ Session session }
	err := c.do(ctx, httpapi.Call{Method: http.MethodGet, Address: ofSession(id, ""), Idempotent: true, Answer: &answer})
	return answer.Session, err
}

// remove stops and deletes a sandbox; one that is not there is no fault.
func (c *client) remove(ctx context.Context, name string) error {
	return c.delete(ctx, "/v2/sandboxes/"+url.PathEscape(name))
}

func (c *client) delete(ctx context.Context, address string) error {
	query := url.Values{"projectId": {c.project}}
	err := c.do(ctx, httpapi.Call{Method: http.MethodDelete, Address: address, Query: query, Idempotent: true})
	if httpapi.Status(err) == http.StatusNotFound {
		return nil
	}
	return err
}

// mayList asks for one of the list, once: who wants to know will ask again.
func (c *client) mayList(ctx context.Context) error {
	query := url.Values{"project": {c.project}, "limit": {"1"}}
	return c.do(ctx, httpapi.Call{Method: http.MethodGet, Address: "/v2/sandboxes", Query: query, Answer: new(struct{})})
}

// list returns the sandboxes whose names begin so.
func (c *client) list(ctx context.Context, prefix string) (all []named, err error) {
	query := url.Values{"project": {c.project}, "limit": {strconv.Itoa(mostListed)}, "sortBy": {"name"}, "namePrefix": {prefix}}
	err = httpapi.Pages(query, func() (int, string, error) {
		var page struct {
			Sandboxes  []named
			Pagination pagination
		}
		err := c.do(ctx, httpapi.Call{Method: http.MethodGet, Address: "/v2/sandboxes", Query: query, Idempotent: true, Answer: &page})
		all = append(all, page.Sandboxes...)
		return len(page.Sandboxes), page.Pagination.Next, err
	})
	return all, err
}

// extend puts off the end of a machine.
func (c *client) extend(ctx context.Context, session string, by time.Duration) error {
	return c.do(ctx, httpapi.Call{Method: http.MethodPost, Address: ofSession(session, "/extend-timeout"),
		Body: httpapi.JSON(map[string]int64{"duration": by.Milliseconds()})})
}

// run starts a program as root, with no variable of ours and no input, and returns
// the id by which its log is found.
func (c *client) run(ctx context.Context, session, program string, args ...string) (id string, err error) {
	var answer struct{ Command struct{ ID string } }
	err = c.do(ctx, httpapi.Call{Method: http.MethodPost, Address: ofSession(session, "/cmd"), Answer: &answer,
		Body: httpapi.JSON(map[string]any{
			"command": program, "args": args, "cwd": "/", "env": map[string]string{}, "sudo": true,
		})})
	return answer.Command.ID, err
}

// logs follows what a program prints, from its beginning, until ctx ends.
func (c *client) logs(ctx context.Context, session, command string) (io.ReadCloser, error) {
	return c.stream(ctx, httpapi.Call{Method: http.MethodGet, Address: ofSession(session, "/cmd/"+url.PathEscape(command)+"/logs")})
}

// write writes a file, with the folders above it, as the machine's default user. It
// may be done again: what comes is the same.
func (c *client) write(ctx context.Context, session, path string, mode int64, content []byte) error {
	return c.do(ctx, httpapi.Call{Method: http.MethodPost, Address: ofSession(session, "/fs/write"), Header: http.Header{"X-Cwd": {"/"}},
		Idempotent: true,
		Body: func() (io.Reader, string, error) {
			packed, err := pack(path, mode, content)
			return packed, "application/gzip", err
		}})
}

// pack makes an archive of one file, which is to be unpacked in /.
func pack(path string, mode int64, content []byte) (*bytes.Buffer, error) {
	var packed bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	archive := tar.NewWriter(zipped)
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path[1:], Mode: mode, Size: int64(len(content)),
		ModTime: time.Now()})
	if err == nil {
		_, err = archive.Write(content)
	}
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = zipped.Close()
	}
	return &packed, err
}

// drive returns the one of that name, made if it is not there yet; zero leaves its
// size to Vercel.
func (c *client) drive(ctx context.Context, name, region string, size int64) (drive, error) {
	body := map[string]any{"projectId": c.project, "region": region}
	if size > 0 {
		body["maxSizeBytes"] = size
	}
	var answer struct{ Drive drive }
	err := c.do(ctx, httpapi.Call{Method: http.MethodPost, Address: ofDrive(name), Body: httpapi.JSON(body), Idempotent: true,
		Answer: &answer})
	return answer.Drive, err
}

// drives lists those whose names begin so.
func (c *client) drives(ctx context.Context, prefix string) (all []drive, err error) {
	query := url.Values{"projectId": {c.project}, "limit": {strconv.Itoa(mostListed)}, "sortBy": {"name"}, "namePrefix": {prefix}}
	err = httpapi.Pages(query, func() (int, string, error) {
		var page struct {
			Drives     []drive
			Pagination pagination
		}
		err := c.do(ctx, httpapi.Call{Method: http.MethodGet, Address: "/v2/sandboxes/drives", Query: query, Idempotent: true,
			Answer: &page})
		all = append(all, page.Drives...)
		return len(page.Drives), page.Pagination.Next, err
	})
	return all, err
}

// removeDrive deletes a drive; one that is not there is no fault.
func (c *client) removeDrive(ctx context.Context, name string) error {
	return c.delete(ctx, ofDrive(name))
}

func ofSession(id, what string) string { return "/v2/sandboxes/sessions/" + url.PathEscape(id) + what }

func ofDrive(name string) string { return "/v2/sandboxes/drives/" + url.PathEscape(name) }
