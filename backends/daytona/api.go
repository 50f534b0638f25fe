package daytona

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"time"

	"github.com/bailiff-dev/bailiff"
)

// The parts of Daytona's answers that are looked at, and of what it takes those
// that are said.

type apiKey struct {
	Permissions []string   `json:"permissions"`
	ExpiresAt   *time.Time `json:"expiresAt"`
}

type snapshot struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

type newMachine struct {
	Name            string            `json:"name"`
	Snapshot        string            `json:"snapshot,omitempty"`
	BuildInfo       *buildInfo        `json:"buildInfo,omitempty"`
	Target          string            `json:"target,omitempty"`
	User            string            `json:"user"`
	Labels          map[string]string `json:"labels"`
	Public          bool              `json:"public"`
	CPU             int               `json:"cpu,omitempty"`
	Memory          int               `json:"memory,omitempty"`
	Disk            int               `json:"disk,omitempty"`
	NetworkBlockAll bool              `json:"networkBlockAll"`
	AutoStop        int               `json:"autoStopInterval"`
	AutoDelete      int               `json:"autoDeleteInterval"`
}

type buildInfo struct {
	Dockerfile string `json:"dockerfileContent"`
}

type machine struct {
	ID               string            `json:"id"`
	Name             string            `json:"name"`
	State            string            `json:"state"`
	ErrorReason      string            `json:"errorReason"`
	Labels           map[string]string `json:"labels"`
	User             string            `json:"user"`
	Public           bool              `json:"public"`
	CPU              float64           `json:"cpu"`
	Memory           float64           `json:"memory"`
	Disk             float64           `json:"disk"`
	NetworkBlockAll  bool              `json:"networkBlockAll"`
	NetworkAllowList string            `json:"networkAllowList"`
	DomainAllowList  string            `json:"domainAllowList"`
	AutoStop         *float64          `json:"autoStopInterval"`
	AutoDelete       *float64          `json:"autoDeleteInterval"`
	ToolboxURL       string            `json:"toolboxProxyUrl"`
}

// The states of a machine in which it stays as long as nobody does anything.
const (
	started     = "started"
	stopped     = "stopped"
	archived    = "archived"
	broken      = "error"
	buildFailed = "build_failed"
	destroying  = "destroying"
	destroyed   = "destroyed"
)

// currentKey is not asked for again, though it could be.
func (c *client) currentKey(ctx context.Context) (key apiKey, err error) {
	return key, c.do(ctx, call{method: http.MethodGet, address: c.base + "/api-keys/current", into: &key, once: true})
}

func (c *client) snapshot(ctx context.Context, name string) (found snapshot, err error) {
	return found, c.do(ctx, call{method: http.MethodGet, address: c.base + "/snapshots/" + url.PathEscape(name), into: &found})
}

func (c *client) create(ctx context.Context, wanted newMachine) (made machine, err error) {
	return made, c.do(ctx, call{method: http.MethodPost, address: c.base + "/sandbox", body: inJSON(wanted), into: &made, once: true})
}

// machine finds one by its id or name.
func (c *client) machine(ctx context.Context, id string) (found machine, err error) {
	return found, c.do(ctx, call{method: http.MethodGet, address: c.of(id), into: &found})
}

func (c *client) remove(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodDelete, address: c.of(id)})
}

func (c *client) start(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodPost, address: c.of(id) + "/start"})
}

// stop ends whatever runs in it.
func (c *client) stop(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodPost, address: c.of(id) + "/stop", query: url.Values{"force": {"true"}}})
}

func (c *client) label(ctx context.Context, id string, labels map[string]string) error {
	body := struct {
		Labels map[string]string `json:"labels"`
	}{labels}
	return c.do(ctx, call{method: http.MethodPut, address: c.of(id) + "/labels", body: inJSON(body)})
}

// used says that a machine is in use, so that it is not stopped.
func (c *client) used(ctx context.Context, id string) error {
	return c.do(ctx, call{method: http.MethodPost, address: c.of(id) + "/last-activity"})
}

// labelled lists the machines that have all of the labels.
func (c *client) labelled(ctx context.Context, labels map[string]string) (all []machine, err error) {
	text, err := json.Marshal(labels)
	if err != nil {
		return nil, err
	}
	query := url.Values{"labels": {string(text)}, "limit": {"200"}, "includeErroredDeleted": {"true"}}
	for range mostPages {
		var page struct {
			Items []machine `json:"items"`
			Next  *string   `json:"nextCursor"`
		}
		if err := c.do(ctx, call{method: http.MethodGet, address: c.base + "/sandbox", query: query, into: &page}); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == nil || *page.Next == "" || len(page.Items) == 0 {
			return all, nil
		}
		query.Set("cursor", *page.Next)
	}
	return nil, fmt.Errorf("%w: the list of sandboxes has no end", errAnswer)
}

// mostPages bounds a list: no account has as many sandboxes.
const mostPages = 100

func (c *client) of(id string) string { return c.base + "/sandbox/" + url.PathEscape(id) }

// tools asks the toolbox of one machine.
type tools struct {
	*client
	base string
}

// tools takes the address of a toolbox from the API, which is trusted with the
// key, but not to send it in the clear.
func (c *client) tools(m machine) (tools, error) {
	if err := isAPI(m.ToolboxURL); err != nil {
		return tools{}, fmt.Errorf("%w: the address of its toolbox is %q: %w", errAnswer, bailiff.Foreign(m.ToolboxURL), err)
	}
	address, err := url.JoinPath(m.ToolboxURL, url.PathEscape(m.ID))
	return tools{c, address}, err
}

func (t tools) makeFolder(ctx context.Context, folder, mode string) error {
	return t.do(ctx, call{method: http.MethodPost, address: t.base + "/files/folder", query: url.Values{"path": {folder}, "mode": {mode}}})
}

func (t tools) permit(ctx context.Context, file, mode string) error {
	return t.do(ctx, call{method: http.MethodPost, address: t.base + "/files/permissions", query: url.Values{"path": {file}, "mode": {mode}}})
}

// upload writes a file, whose content is made anew for each attempt.
func (t tools) upload(ctx context.Context, file string, content func() (io.Reader, error), long time.Duration) error {
	return t.do(ctx, call{
		method: http.MethodPost, address: t.base + "/files/upload", query: url.Values{"path": {file}}, long: long,
		body: func() (io.Reader, string) { return asForm(path.Base(file), content) },
	})
}

// asForm streams one file as a form.
func asForm(name string, content func() (io.Reader, error)) (io.Reader, string) {
	from, to := io.Pipe()
	form := multipart.NewWriter(to)
	go func() {
		part, err := form.CreateFormFile("file", name)
		var in io.Reader
		if err == nil {
			in, err = content()
		}
		if err == nil {
			_, err = io.Copy(part, in)
		}
		if err == nil {
			err = form.Close()
		}
		to.CloseWithError(err)
	}()
	return from, form.FormDataContentType()
}

func (t tools) download(ctx context.Context, file string, to io.Writer, long time.Duration) error {
	return t.do(ctx, call{method: http.MethodGet, address: t.base + "/files/download", query: url.Values{"path": {file}}, into: to, long: long, once: true})
}

// run runs a line of shell to its end, as root.
func (t tools) run(ctx context.Context, line string, long time.Duration) error {
	body := struct {
		Command string `json:"command"`
		Cwd     string `json:"cwd"`
		Timeout int    `json:"timeout"`
	}{line, "/", int(long.Seconds())}
	var done struct {
		ExitCode *int   `json:"exitCode"`
		Result   string `json:"result"`
	}
	err := t.do(ctx, call{method: http.MethodPost, address: t.base + "/process/execute", body: inJSON(body), into: &done, long: long, once: true})
	if err == nil && (done.ExitCode == nil || *done.ExitCode != 0) {
		err = fmt.Errorf("%w: a command of ours failed: %s", errAnswer, bailiff.Foreign(done.Result))
	}
	return err
}

func (t tools) openTerminal(ctx context.Context, id string) error {
	body := struct {
		ID   string `json:"id"`
		Cwd  string `json:"cwd"`
		Cols int    `json:"cols"`
		Rows int    `json:"rows"`
	}{id, "/", 80, 24}
	return t.do(ctx, call{method: http.MethodPost, address: t.base + "/process/pty", body: inJSON(body), once: true})
}

// excerptOf reads the beginning of a file that may not be there.
func (t tools) excerptOf(ctx context.Context, file string) string {
	var text bytes.Buffer
	if t.download(ctx, file, &capped{&text, 512}, 0) != nil {
		return ""
	}
	return bailiff.Foreign(text.String())
}

// capped takes what there is room for, and no more.
type capped struct {
	to   *bytes.Buffer
	room int
}

func (c *capped) Write(p []byte) (int, error) {
	n := min(len(p), c.room-c.to.Len())
	c.to.Write(p[:n])
	return len(p), nil
}
