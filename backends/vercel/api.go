package vercel

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"
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
	Next *string `json:"next"`
}

// isLast says that no page follows.
func (p pagination) isLast() bool { return p.Next == nil || *p.Next == "" }

// mostListed is what one page can have.
const mostListed = 50

// create makes a sandbox of that name and starts its machine. It is never asked
// twice unless Vercel says that it did nothing.
func (c *client) create(ctx context.Context, w wanted) (m made, err error) {
	return m, c.do(ctx, call{method: http.MethodPost, path: "/v3/sandboxes", body: inJSON(w), answer: &m})
}

func (c *client) session(ctx context.Context, id string) (session, error) {
	var answer struct{ Session session }
	err := c.do(ctx, call{method: http.MethodGet, path: ofSession(id, ""), again: true, answer: &answer})
	return answer.Session, err
}

// remove stops and deletes a sandbox; one that is not there is no fault.
func (c *client) remove(ctx context.Context, name string) error {
	err := c.do(ctx, call{method: http.MethodDelete, path: "/v2/sandboxes/" + url.PathEscape(name), query: url.Values{"projectId": {c.project}}, again: true})
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

// page is a part of the list of sandboxes whose names begin so.
func (c *client) page(ctx context.Context, prefix, cursor string, most int) (page struct {
	Sandboxes  []named
	Pagination pagination
}, err error) {
	query := url.Values{"project": {c.project}, "limit": {strconv.Itoa(most)}, "sortBy": {"name"}, "namePrefix": {prefix}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	return page, c.do(ctx, call{method: http.MethodGet, path: "/v2/sandboxes", query: query, again: true, answer: &page})
}

// list returns all of them.
func (c *client) list(ctx context.Context, prefix string) (all []named, err error) {
	cursor := ""
	for range mostPages {
		page, err := c.page(ctx, prefix, cursor, mostListed)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Sandboxes...)
		if page.Pagination.isLast() || len(page.Sandboxes) == 0 {
			return all, nil
		}
		cursor = *page.Pagination.Next
	}
	return nil, errEndless
}

// mostPages bounds a list: no project has as much.
const mostPages = 100

var errEndless = errors.New("reading Vercel's answer: the list has no end")

// extend puts off the end of a machine.
func (c *client) extend(ctx context.Context, session string, by time.Duration) error {
	return c.do(ctx, call{method: http.MethodPost, path: ofSession(session, "/extend-timeout"),
		body: inJSON(map[string]int64{"duration": by.Milliseconds()})})
}

// run starts a program as root, with no variable of ours and no input, and returns
// the id by which its log is found.
func (c *client) run(ctx context.Context, session, program string, args ...string) (id string, err error) {
	var answer struct{ Command struct{ ID string } }
	err = c.do(ctx, call{method: http.MethodPost, path: ofSession(session, "/cmd"), answer: &answer, body: inJSON(map[string]any{
		"command": program, "args": args, "cwd": "/", "env": map[string]string{}, "sudo": true,
	})})
	return answer.Command.ID, err
}

// logs follows what a program prints, from its beginning, until ctx ends.
func (c *client) logs(ctx context.Context, session, command string) (*http.Response, error) {
	return c.send(ctx, call{method: http.MethodGet, path: ofSession(session, "/cmd/"+url.PathEscape(command)+"/logs")})
}

// write writes a file, with the folders above it, as the machine's default user. It
// may be done again: what comes is the same.
func (c *client) write(ctx context.Context, session, path string, mode int64, content []byte) error {
	packed, err := pack(path, mode, content)
	if err != nil {
		return err
	}
	return c.do(ctx, call{method: http.MethodPost, path: ofSession(session, "/fs/write"), body: packed, again: true,
		header: map[string]string{"Content-Type": "application/gzip", "X-Cwd": "/"}})
}

// pack makes an archive of one file, which is to be unpacked in /.
func pack(path string, mode int64, content []byte) ([]byte, error) {
	var packed bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	archive := tar.NewWriter(zipped)
	err := archive.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path[1:], Mode: mode, Size: int64(len(content)), ModTime: time.Now()})
	if err == nil {
		_, err = archive.Write(content)
	}
	if err == nil {
		err = archive.Close()
	}
	if err == nil {
		err = zipped.Close()
	}
	return packed.Bytes(), err
}

// drive returns the one of that name, made if it is not there yet; zero leaves its
// size to Vercel.
func (c *client) drive(ctx context.Context, name, region string, size int64) (drive, error) {
	body := map[string]any{"projectId": c.project, "region": region}
	if size > 0 {
		body["maxSizeBytes"] = size
	}
	var answer struct{ Drive drive }
	err := c.do(ctx, call{method: http.MethodPost, path: ofDrive(name), body: inJSON(body), again: true, answer: &answer})
	return answer.Drive, err
}

// drives lists those whose names begin so.
func (c *client) drives(ctx context.Context, prefix string) (all []drive, err error) {
	query := url.Values{"projectId": {c.project}, "limit": {strconv.Itoa(mostListed)}, "sortBy": {"name"}, "namePrefix": {prefix}}
	for range mostPages {
		var page struct {
			Drives     []drive
			Pagination pagination
		}
		if err := c.do(ctx, call{method: http.MethodGet, path: "/v2/sandboxes/drives", query: query, again: true, answer: &page}); err != nil {
			return nil, err
		}
		all = append(all, page.Drives...)
		if page.Pagination.isLast() || len(page.Drives) == 0 {
			return all, nil
		}
		query.Set("cursor", *page.Pagination.Next)
	}
	return nil, errEndless
}

// removeDrive deletes a drive; one that is not there is no fault.
func (c *client) removeDrive(ctx context.Context, name string) error {
	err := c.do(ctx, call{method: http.MethodDelete, path: ofDrive(name), query: url.Values{"projectId": {c.project}}, again: true})
	if isStatus(err, http.StatusNotFound) {
		return nil
	}
	return err
}

func ofSession(id, what string) string { return "/v2/sandboxes/sessions/" + url.PathEscape(id) + what }

func ofDrive(name string) string { return "/v2/sandboxes/drives/" + url.PathEscape(name) }

// inJSON encodes what can be encoded.
func inJSON(value any) []byte {
	text, _ := json.Marshal(value)
	return text
}
