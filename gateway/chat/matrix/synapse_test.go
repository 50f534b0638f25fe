package matrix_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // Synapse's own choice
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/bailiff-dev/bailiff/gateway/chat"
	"github.com/bailiff-dev/bailiff/gateway/chat/matrix/matrixtest"
	"github.com/bailiff-dev/bailiff/internal/tests/porttest"
)

// realServer is a Synapse, one for all tests.
type realServer struct {
	url, folder string
	process     *exec.Cmd
	registered  atomic.Int64
}

var (
	onlySynapse *realServer
	startOnce   sync.Once
)

const registrationSecret = "register-4711"

func TestMain(m *testing.M) {
	code := m.Run()
	if s := onlySynapse; s != nil {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		_ = s.process.Wait()
		_ = os.RemoveAll(s.folder)
	}
	os.Exit(code)
}

func theSynapse(t *testing.T, script string) *realServer {
	t.Helper()
	startOnce.Do(func() {
		s, err := startSynapse(script, porttest.Address(t))
		if err != nil {
			t.Fatalf("starting Synapse: %v", err)
		}
		onlySynapse = s
	})
	if onlySynapse == nil {
		t.Fatal("there is no Synapse")
	}
	return onlySynapse
}

// ofSynapse is its configuration: of one process, without limits and without others.
const ofSynapse = `
server_name: example.test
pid_file: %[1]s/pid
listeners: [{port: %[2]s, bind_addresses: ["127.0.0.1"], type: http, tls: false, resources: [{names: [client, media]}]}]
database: {name: sqlite3, args: {database: "%[1]s/db"}}
media_store_path: %[1]s/media
log_config: %[1]s/log.yaml
signing_key: ed25519 a_test yXFDvDzHnHWOlSjy1vZ5xmGOTA4M8CJhnkIdpUc6oV4
macaroon_secret_key: macaroon-4711
registration_shared_secret: register-4711
trusted_key_servers: []
report_stats: false
presence: {enabled: false}
caches: {sync_response_cache_duration: 0s}
rc_message: {per_second: 100000, burst_count: 100000}
rc_joins: {local: {per_second: 100000, burst_count: 100000}}
rc_joins_per_room: {per_second: 100000, burst_count: 100000}
rc_invites: {per_room: {per_second: 100000, burst_count: 100000}, per_user: {per_second: 100000, burst_count: 100000},
  per_issuer: {per_second: 100000, burst_count: 100000}}
rc_room_creation: {per_second: 100000, burst_count: 100000}
`

const logOfSynapse = `{version: 1, handlers: {file: {class: logging.FileHandler, filename: %s/log}}, root: {level: WARNING,` +
	` handlers: [file]}}`

func startSynapse(script, address string) (*realServer, error) {
	folder, err := os.MkdirTemp("/tmp", "bailiff-synapse-")
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	for name, text := range map[string]string{"homeserver.yaml": fmt.Sprintf(ofSynapse, folder, port),
		"log.yaml": fmt.Sprintf(logOfSynapse, folder)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	s := &realServer{url: "http://" + address, folder: folder}
	s.process = exec.Command(script, "python3", "-m", "synapse.app.homeserver", "-c", //nolint:gosec // of the test's environment
		filepath.Join(folder, "homeserver.yaml"))
	var printed bytes.Buffer
	s.process.Stdout, s.process.Stderr = &printed, &printed
	if err := s.process.Start(); err != nil {
		return nil, err
	}
	for range 600 {
		if answer, err := http.Get(s.url + "/_matrix/client/versions"); err == nil { //nolint:noctx // of a test
			_ = answer.Body.Close()
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	return nil, fmt.Errorf("it does not answer: %s", printed.String())
}

// register makes an account of a new name, whose client comes by an address.
func (s *realServer) register(t *testing.T, url, name string) *matrixtest.Person {
	t.Helper()
	return s.registerAs(t, url, name, false)
}

func (s *realServer) registerAs(t *testing.T, url, name string, admin bool) *matrixtest.Person {
	t.Helper()
	kind := map[bool]string{true: "admin", false: "notadmin"}[admin]
	full := fmt.Sprintf("%s-%d", name, s.registered.Add(1))
	var fresh struct{ Nonce string }
	s.admin(t, http.MethodGet, "register", "", nil, &fresh)
	mac := hmac.New(sha1.New, []byte(registrationSecret))
	mac.Write([]byte(strings.Join([]string{fresh.Nonce, full, "password-4711", kind}, "\x00")))
	var made struct {
		User  string `json:"user_id"`
		Token string `json:"access_token"`
	}
	s.admin(t, http.MethodPost, "register", "", map[string]any{"nonce": fresh.Nonce, "username": full, "displayname": name,
		"password": "password-4711",
		"admin":    admin, "mac": hex.EncodeToString(mac.Sum(nil))}, &made)
	return matrixtest.NewPerson(t, url, made.User, made.Token)
}

func (s *realServer) admin(t *testing.T, method, path, token string, body, into any) {
	t.Helper()
	sent, _ := json.Marshal(body)
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+"/_synapse/admin/v1/"+path, bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, answer.StatusCode, err)
	}
}

// A real homeserver slows down who sends much, and says for how long.
func TestSynapseIsNotAskedSoonerThanItWants(t *testing.T) {
	t.Parallel()
	h := synapse(t)
	room := h.room("ops", h.person("ana"))
	onlySynapse.slowDown(t, h.bailiff.ID)
	m := h.open(t, h.config())
	var waited time.Duration
	for i := range 8 {
		text := fmt.Sprintf("message %d", i)
		for {
			_, err := m.Post(t.Context(), chat.Place{Chat: room}, say(text), text)
			var busy *chat.Busy
			if err == nil {
				break
			}
			if !errors.As(err, &busy) || busy.After <= 0 || busy.After > 10*time.Second {
				t.Fatalf("it is %v", err)
			}
			waited += busy.After
			time.Sleep(busy.After)
		}
	}
	shown := h.bailiff.Messages(room)
	if len(shown) != 8 || waited == 0 {
		t.Errorf("after waiting for %v %d are shown", waited, len(shown))
	}
	t.Logf("waited for %v", waited)
}

// slowDown lets an account send two events a second.
func (s *realServer) slowDown(t *testing.T, id string) {
	t.Helper()
	admin := s.registerAs(t, s.url, "admin", true)
	var set map[string]any
	s.admin(t, http.MethodPost, "users/"+id+"/override_ratelimit", admin.Token, map[string]any{"messages_per_second": 2, "burst_count": 2},
		&set)
}
