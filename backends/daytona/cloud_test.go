package daytona

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	stand "github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

const testKey = "dtn_4e1c0ffee4e1c0ffee"

// cloud stands in for Daytona. What is asked of it must be right by Daytona's own
// descriptions, and so must its answers; each of its sandboxes is a machine.
type cloud struct {
	t            testing.TB
	api, toolbox *description
	server       *httptest.Server
	address      string

	mu     sync.Mutex
	rented map[string]*rented // by id
	faults []*mishap
	asked  []string // the operations, in their order
	// slowly are the states that a machine goes through before it has started.
	slowly []string
	// twist changes what a sandbox is that was made, and allowed what the key may do.
	twist   func(dto map[string]any)
	allowed map[string]any
	// bodies is all that was said over HTTP.
	bodies bytes.Buffer
}

// rented is one sandbox of the cloud.
type rented struct {
	dto     map[string]any
	coming  []string
	machine *stand.Machine
	files   string // of one that is stopped
	lines   *terminals
}

// mishap is what goes wrong with the next questions of a kind.
type mishap struct {
	operation string
	times     int
	// code is answered instead, after so many seconds of Retry-After.
	code, after int
	// lose does what was asked, and cuts the connection instead of answering.
	lose bool
	// hang answers nothing until whoever asks has gone.
	hang bool
}

func newCloud(t testing.TB) *cloud {
	t.Helper()
	c := &cloud{t: t, rented: map[string]*rented{},
		api: readDescription(t, "api.openapi.yaml", testKey), toolbox: readDescription(t, "toolbox.openapi.yaml", testKey)}
	c.server = httptest.NewServer(c)
	c.address = c.server.URL
	t.Cleanup(func() {
		c.server.CloseClientConnections()
		c.server.Close()
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, r := range c.rented {
			r.stop()
		}
	})
	return c
}

func (c *cloud) inject(m mishap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.times = max(1, m.times)
	c.faults = append(c.faults, &m)
}

// count says how often something was asked for.
func (c *cloud) count(operation string) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, asked := range c.asked {
		if asked == operation {
			n++
		}
	}
	return n
}

// there lists the ids of what was not deleted.
func (c *cloud) there() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.rented))
}

// find returns a sandbox by its id or name, nil if there is none.
func (c *cloud) find(id string) *rented {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lookUp(id)
}

func (c *cloud) lookUp(id string) *rented {
	if r := c.rented[id]; r != nil {
		return r
	}
	for _, r := range c.rented {
		if r.dto["name"] == id {
			return r
		}
	}
	return nil
}

func (c *cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("User-Agent") == "" || r.ContentLength > 64<<20 {
		c.t.Errorf("an odd request: %s %s", r.Method, r.URL.Path)
	}
	c.record(r)
	from, do := c.api, c.operate
	path, ours := strings.CutPrefix(r.URL.Path, "/api")
	machine := ""
	if !ours {
		path, ours = strings.CutPrefix(r.URL.Path, "/toolbox/")
		machine, path, _ = strings.Cut(path, "/")
		from, path = c.toolbox, "/"+path
		do = func(about heard, w http.ResponseWriter, r *http.Request) { c.use(machine, about, w, r) }
	}
	if !ours {
		c.t.Errorf("nothing is at %s", r.URL.Path)
	}
	inner := r.Clone(r.Context())
	inner.URL.Path, inner.URL.RawPath, inner.URL.Host = path, "", ""
	about, err := from.check(inner)
	if errors.Is(err, errUnauthorized) {
		refuse(w, http.StatusUnauthorized, "Invalid credentials")
		return
	}
	if errors.Is(err, io.ErrUnexpectedEOF) { // who asked has gone in the middle
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if err != nil {
		c.t.Errorf("what was asked is not right by Daytona's description: %v", err)
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if about.operation == "ConnectPtySession" { // hijacks its connection
		if !c.goesWrong(about, w, r, func(http.ResponseWriter) {}) {
			do(about, w, inner)
		}
		return
	}
	c.answer(from, about, w, r, func(w http.ResponseWriter) { do(about, w, inner) })
}

// record keeps what is said, but for the runner's file.
func (c *cloud) record(r *http.Request) {
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		return
	}
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(&c.bodies, "%s %s\n%s\n", r.Method, r.URL, body)
}

func (c *cloud) answer(by *description, about heard, w http.ResponseWriter, r *http.Request, do func(http.ResponseWriter)) {
	if c.goesWrong(about, w, r, do) {
		return
	}
	answer := httptest.NewRecorder()
	do(answer)
	if err := by.checkAnswer(about, answer); err != nil {
		c.t.Errorf("the stand-in's answer to %s is not right by Daytona's description: %v", about.operation, err)
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// goesWrong does what was injected, and says whether that was the answer.
func (c *cloud) goesWrong(about heard, w http.ResponseWriter, r *http.Request, do func(http.ResponseWriter)) bool {
	m := c.mishap(about.operation)
	switch {
	case m == nil:
		return false
	case m.hang:
		<-r.Context().Done()
	case m.lose:
		do(httptest.NewRecorder())
		panic(http.ErrAbortHandler)
	default:
		if m.after > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(m.after))
		}
		refuse(w, m.code, "made to fail")
	}
	return true
}

func (c *cloud) mishap(operation string) *mishap {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, operation)
	for _, m := range c.faults {
		if m.operation == operation && m.times > 0 {
			m.times--
			return m
		}
	}
	return nil
}

func refuse(w http.ResponseWriter, code int, message string) {
	say(w, code, map[string]any{"statusCode": code, "message": message, "error": http.StatusText(code)})
}

func say(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

// operate does what the API is asked for.
func (c *cloud) operate(about heard, w http.ResponseWriter, r *http.Request) {
	switch about.operation {
	case "getCurrentApiKey":
		key := map[string]any{"name": "bailiff", "value": "dtn_*********fee", "userId": "u", "createdAt": "2026-01-01T00:00:00Z",
			"permissions": []string{"write:sandboxes", "delete:sandboxes"}, "lastUsedAt": nil, "expiresAt": nil}
		maps.Copy(key, c.allowed)
		say(w, 200, key)
	case "getSnapshot":
		c.snapshot(about.path["id"], w)
	case "createSandbox":
		c.create(w, r)
	case "listSandboxes":
		c.list(w, r)
	default:
		c.manage(about, w, r)
	}
}

// snapshotID is the one snapshot there is.
const snapshotID = "5b4c8a1e-0000-4000-8000-000000000001"

func (c *cloud) snapshot(id string, w http.ResponseWriter) {
	if id != "ordinary" && id != snapshotID {
		refuse(w, 404, "Snapshot not found")
		return
	}
	say(w, 200, map[string]any{"id": snapshotID, "name": "ordinary", "state": "active", "cpu": 2, "mem": 4, "disk": 8, "gpu": 0,
		"general": false,
		"size":    nil, "entrypoint": nil, "errorReason": nil, "lastUsedAt": nil, "createdAt": "2026-01-01T00:00:00Z",
		"updatedAt": "2026-01-01T00:00:00Z"})
}

func (c *cloud) create(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Name, Snapshot, User, Target         string
		BuildInfo                            map[string]any
		Labels, Env                          map[string]string
		CPU, Memory, Disk                    int
		NetworkBlockAll                      bool
		AutoStopInterval, AutoDeleteInterval int
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		c.t.Errorf("reading what is to be made: %v", err)
	}
	switch {
	case asked.Snapshot != "" && asked.CPU+asked.Memory+asked.Disk > 0:
		refuse(w, 400, "Cannot specify Sandbox resources when using a snapshot")
		return
	case asked.Snapshot == "" && asked.BuildInfo == nil, asked.Name == "", asked.AutoStopInterval <= 0, len(asked.Env) > 0:
		c.t.Errorf("what is to be made should not be made so: %+v", asked)
	}
	if asked.Snapshot != "" {
		asked.CPU, asked.Memory, asked.Disk = 2, 4, 8
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lookUp(asked.Name) != nil {
		refuse(w, 409, "Sandbox with name "+asked.Name+" already exists")
		return
	}
	id := fmt.Sprintf("6f0e7d3c-0000-4000-8000-%012d", len(c.asked)*1000+len(c.rented))
	made := &rented{lines: newTerminals(), coming: slices.Clone(c.slowly)}
	made.dto = map[string]any{
		"id": id, "name": asked.Name, "organizationId": "o", "user": cmp.Or(asked.User, "daytona"), "env": map[string]string{},
		"labels": asked.Labels,
		"public": false, "networkBlockAll": asked.NetworkBlockAll, "target": cmp.Or(asked.Target, "us"), "state": "creating",
		"cpu": cmp.Or(asked.CPU, 1), "memory": cmp.Or(asked.Memory, 1), "disk": cmp.Or(asked.Disk, 3), "gpu": 0,
		"autoStopInterval": asked.AutoStopInterval, "autoDeleteInterval": asked.AutoDeleteInterval,
		"toolboxProxyUrl": c.address + "/toolbox",
	}
	if c.twist != nil {
		c.twist(made.dto)
	}
	c.rented[id] = made
	say(w, 200, made.dto)
}

func (c *cloud) list(w http.ResponseWriter, r *http.Request) {
	var labels map[string]string
	if err := json.Unmarshal([]byte(r.URL.Query().Get("labels")), &labels); err != nil {
		c.t.Errorf("reading the labels of a list: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []string
	for id, r := range c.rented {
		if r.labelled(labels) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	const page = 2
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	items, next := []any{}, any(nil)
	for i, id := range found {
		switch {
		case i >= from && i < from+page:
			items = append(items, c.rented[id].item())
		case i == from+page:
			next = strconv.Itoa(i)
		}
	}
	say(w, 200, map[string]any{"items": items, "nextCursor": next})
}

func (r *rented) labelled(labels map[string]string) bool {
	have := r.dto["labels"].(map[string]string)
	for name, value := range labels {
		if have[name] != value {
			return false
		}
	}
	return true
}

// item is a sandbox as lists show it, without some things.
func (r *rented) item() map[string]any {
	item := maps.Clone(r.dto)
	for _, left := range []string{"env", "networkBlockAll"} {
		delete(item, left)
	}
	return item
}

// manage does what is asked of one sandbox.
func (c *cloud) manage(about heard, w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.lookUp(cmp.Or(about.path["sandboxIdOrName"], about.path["sandboxId"]))
	if found == nil {
		refuse(w, 404, "Sandbox not found")
		return
	}
	switch about.operation {
	case "getSandbox":
		found.step()
	case "deleteSandbox":
		found.stop()
		found.dto["state"] = "destroying"
		delete(c.rented, found.dto["id"].(string))
	case "startSandbox":
		found.start()
	case "stopSandbox":
		found.halt(c)
		if found.dto["autoDeleteInterval"] == 0 {
			delete(c.rented, found.dto["id"].(string))
		}
	case "replaceLabels":
		var body struct{ Labels map[string]string }
		_ = json.NewDecoder(r.Body).Decode(&body)
		found.dto["labels"] = body.Labels
		say(w, 200, map[string]any{"labels": body.Labels})
		return
	case "updateLastActivity":
		w.WriteHeader(201)
		return
	default:
		c.t.Errorf("the stand-in cannot %s", about.operation)
	}
	say(w, 200, found.dto)
}

// step lets time go on for a sandbox, by one state.
func (r *rented) step() {
	if len(r.coming) > 0 {
		r.dto["state"], r.coming = r.coming[0], r.coming[1:]
		return
	}
	switch r.dto["state"] {
	case "creating", "starting", "building_snapshot", "pulling_snapshot", "pending_build":
		r.dto["state"] = "started"
	case "stopping":
		r.dto["state"] = "stopped"
	}
}

func (r *rented) halt(c *cloud) {
	if r.machine != nil {
		r.files = filepath.Join(c.t.TempDir(), "files")
		if err := r.machine.Snapshot(r.files); err != nil {
			c.t.Errorf("stopping a machine: %v", err)
		}
	}
	r.stop()
	r.dto["state"] = "stopping"
}

func (r *rented) start() {
	r.dto["state"] = "starting"
}

// boot makes the machine, when it is first needed.
func (r *rented) boot(c *cloud) {
	if r.machine == nil {
		r.machine = stand.Restore(c.t, r.files)
	}
}

func (r *rented) stop() {
	r.lines.closeAll()
	if r.machine != nil {
		r.machine.Stop()
	}
	r.machine = nil
}
