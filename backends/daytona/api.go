package daytona

import (
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
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
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

// The states of a machine in which it stays as long as it is not told otherwise.
const (
	started     = "started"
	stopped     = "stopped"
	archived    = "archived"
	broken      = "error"
	buildFailed = "build_failed"
	destroying  = "destroying"
	destroyed   = "destroyed"
)

// currentKey is asked for once.
func (c *client) currentKey(ctx context.Context) (key apiKey, err error) {
	return key, c.Do(ctx, httpapi.Call{Method: http.MethodGet, Address: c.base + "/api-keys/current", Answer: &key})
}

func (c *client) snapshot(ctx context.Context, name string) (found snapshot, err error) {
	return found, c.Do(ctx, httpapi.Call{Method: http.MethodGet, Address: c.base + "/snapshots/" + url.PathEscape(name), Answer: &found,
		Idempotent: true})
}

func (c *client) create(ctx context.Context, wanted newMachine) (made machine, err error) {
	return made, c.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: c.base + "/sandbox", Body: httpapi.JSON(wanted), Answer: &made})
}

// machine finds one by its id or name.
func (c *client) machine(ctx context.Context, id string) (found machine, err error) {
	return found, c.Do(ctx, httpapi.Call{Method: http.MethodGet, Address: c.of(id), Answer: &found, Idempotent: true})
}

func (c *client) remove(ctx context.Context, id string) error {
	return c.Do(ctx, httpapi.Call{Method: http.MethodDelete, Address: c.of(id), Idempotent: true})
}

func (c *client) start(ctx context.Context, id string) error {
	return c.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: c.of(id) + "/start", Idempotent: true})
}

// stop ends all that runs in it.
func (c *client) stop(ctx context.Context, id string) error {
	return c.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: c.of(id) + "/stop", Query: url.Values{"force": {"true"}},
		Idempotent: true})
}

func (c *client) label(ctx context.Context, id string, labels map[string]string) error {
	body := struct {
		Labels map[string]string `json:"labels"`
	}{labels}
	return c.Do(ctx, httpapi.Call{Method: http.MethodPut, Address: c.of(id) + "/labels", Body: httpapi.JSON(body), Idempotent: true})
}

// used says that a machine is in use, so that it is not stopped.
func (c *client) used(ctx context.Context, id string) error {
	return c.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: c.of(id) + "/last-activity", Idempotent: true})
}

// labelled lists the machines that have all of the labels.
func (c *client) labelled(ctx context.Context, labels map[string]string) (all []machine, err error) {
	text, err := json.Marshal(labels)
	if err != nil {
		return nil, err
	}
	query := url.Values{"labels": {string(text)}, "limit": {"200"}, "includeErroredDeleted": {"true"}}
	err = httpapi.Pages(query, func() (int, string, error) {
		var page struct {
			Items []machine `json:"items"`
			Next  string    `json:"nextCursor"`
		}
		err := c.Do(ctx, httpapi.Call{Method: http.MethodGet, Address: c.base + "/sandbox", Query: query, Answer: &page, Idempotent: true})
		all = append(all, page.Items...)
		return len(page.Items), page.Next, err
	})
	return all, err
}

func (c *client) of(id string) string { return c.base + "/sandbox/" + url.PathEscape(id) }

// tools asks the toolbox of one machine.
type tools struct {
	*client
	base string
}

// tools takes the address of a toolbox from the API, which is trusted with the
// key, but not to send it in the clear.
func (c *client) tools(m machine) (tools, error) {
	if err := httpapi.CheckAddress(m.ToolboxURL); err != nil {
		return tools{}, fmt.Errorf("the address of its toolbox is %q: %w", bailiff.Foreign(m.ToolboxURL), err)
	}
	address, err := url.JoinPath(m.ToolboxURL, url.PathEscape(m.ID))
	return tools{c, address}, err
}

func (t tools) makeFolder(ctx context.Context, folder, mode string) error {
	query := url.Values{"path": {folder}, "mode": {mode}}
	return t.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: t.base + "/files/folder", Query: query, Idempotent: true})
}

func (t tools) permit(ctx context.Context, file, mode string) error {
	query := url.Values{"path": {file}, "mode": {mode}}
	return t.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: t.base + "/files/permissions", Query: query, Idempotent: true})
}

// upload writes a file, whose content is made anew for each attempt.
func (t tools) upload(ctx context.Context, file string, content func() (io.ReadCloser, error), long time.Duration) error {
	return t.Do(ctx, httpapi.Call{
		Method: http.MethodPost, Address: t.base + "/files/upload", Query: url.Values{"path": {file}}, Long: long, Idempotent: true,
		Body: func() (io.Reader, string, error) {
			in, err := content()
			if err != nil {
				return nil, "", err
			}
			form, kind := asForm(path.Base(file), in)
			return form, kind, nil
		},
	})
}

// asForm streams one file as a form, and closes it.
func asForm(name string, content io.ReadCloser) (io.Reader, string) {
	from, to := io.Pipe()
	form := multipart.NewWriter(to)
	go func() {
		defer content.Close()
		part, err := form.CreateFormFile("file", name)
		if err == nil {
			_, err = io.Copy(part, content)
		}
		if err == nil {
			err = form.Close()
		}
		to.CloseWithError(err)
	}()
	return from, form.FormDataContentType()
}

func (t tools) download(ctx context.Context, file string) (io.ReadCloser, error) {
	return t.Stream(ctx, httpapi.Call{Method: http.MethodGet, Address: t.base + "/files/download", Query: url.Values{"path": {file}},
		Idempotent: true})
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
	err := t.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: t.base + "/process/execute", Body: httpapi.JSON(body), Answer: &done,
		Long: long})
	if err == nil && (done.ExitCode == nil || *done.ExitCode != 0) {
		err = fmt.Errorf("a command of ours failed: %s", bailiff.Foreign(done.Result))
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
	return t.Do(ctx, httpapi.Call{Method: http.MethodPost, Address: t.base + "/process/pty", Body: httpapi.JSON(body)})
}

// excerptOf reads the beginning of a file that may not be there.
func (t tools) excerptOf(ctx context.Context, file string) string {
	content, err := t.download(ctx, file)
	if err != nil {
		return ""
	}
	defer content.Close()
	text, _ := io.ReadAll(io.LimitReader(content, 512))
	return bailiff.Foreign(string(text))
}
