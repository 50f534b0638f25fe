package modal

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bailiff-dev/bailiff/backends/backendtest"
	"github.com/bailiff-dev/bailiff/backends/backendtest/machine"
)

// The token that the cloud knows.
const (
	tokenID     = "ak-of-a-longer-test"
	tokenSecret = "as-which-nobody-may-see"
)

// cloud stands in for Modal: both of its services, made from the stubs of its own
// client, with machines on this kernel. It fails the test at any call that Modal's
// description does not allow, and at any that no test has a reason for.
type cloud struct {
	tb     testing.TB
	url    string // of the control plane
	router string // of the programs that run in machines
	lines  *lines // to the router

	mu        sync.Mutex
	secret    string // of the token that is taken
	keysLife  time.Duration
	cuts      []cut // of outputs, in their order
	sip       int   // how much of an output is sent at once, if not as much as there is
	faults    map[string][]fault
	calls     map[string]int
	heard     []string
	created   map[string]*pb.SandboxCreateV2Response // by idempotency key
	apps      map[string]string
	images    map[string]string // ids by name; a test may name more
	building  map[string]bool   // whose result must be waited for
	volumes   map[string]*volume
	sandboxes map[string]*lent
	clock     float64 // of creations, each later than all before
}

type volume struct {
	id      string
	name    string
	created float64
	files   []byte // an archive of what was committed
}

// lent is a sandbox.
type lent struct {
	id, task string
	key      string // of whoever may start programs in it
	request  *pb.SandboxCreateV2Request
	created  float64
	machine  *machine.Machine
	ended    chan struct{}
	end      sync.Once
	result   pb.GenericResult_GenericStatus

	mu        sync.Mutex
	execs     map[string]*execution
	committed map[string][]byte // what this sandbox committed last, by volume
}

// newCloud starts a cloud and points Modal's client at it.
func newCloud(tb testing.TB) *cloud {
	tb.Helper()
	c := &cloud{
		tb: tb, secret: tokenSecret, keysLife: time.Hour, sip: 64 << 10, faults: map[string][]fault{}, calls: map[string]int{},
		created: map[string]*pb.SandboxCreateV2Response{}, apps: map[string]string{}, building: map[string]bool{},
		images: map[string]string{Defaults().Image: "im-usual"}, volumes: map[string]*volume{}, sandboxes: map[string]*lent{},
	}
	control := c.server()
	pb.RegisterModalClientServer(control, controlPlane{cloud: c})
	c.url = "http://" + c.listen(control, &lines{})
	router := c.server()
	pb.RegisterTaskCommandRouterServer(router, commandRouter{cloud: c})
	c.lines = &lines{}
	c.router = "https://" + c.listen(router, c.lines)
	for _, name := range []string{"MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET", "MODAL_ENVIRONMENT", "MODAL_PROFILE", "MODAL_SANDBOX_V2",
		"MODAL_LOGLEVEL",
		"MODAL_IMAGE_BUILDER_VERSION", "MODAL_OAUTH_REFRESH_TOKEN"} {
		tb.Setenv(name, "")
	}
	tb.Setenv("MODAL_SANDBOX_V2", "true")
	tb.Setenv("MODAL_SERVER_URL", c.url)
	return c
}

func (c *cloud) server() *grpc.Server {
	return grpc.NewServer(grpc.ChainUnaryInterceptor(c.answer), grpc.ChainStreamInterceptor(c.stream), grpc.MaxRecvMsgSize(4<<20))
}

func (c *cloud) listen(server *grpc.Server, on *lines) (address string) {
	c.tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	backendtest.Must(c.tb, err)
	on.Listener = listener
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(on)
	}()
	c.tb.Cleanup(func() {
		server.Stop()
		<-served
	})
	return listener.Addr().String()
}

// lines are the connections to a server, which can be cut.
type lines struct {
	net.Listener
	mu   sync.Mutex
	open []net.Conn
}

func (l *lines) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.mu.Lock()
		l.open = append(l.open, conn)
		l.mu.Unlock()
	}
	return conn, err
}

func (l *lines) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.open {
		conn.Close()
	}
	l.open = nil
}

// later is the time of a creation.
func (c *cloud) later() float64 {
	c.clock++
	return 1e9 + c.clock
}

// lend starts a machine for a sandbox.
func (c *cloud) lend(req *pb.SandboxCreateV2Request) (*lent, error) {
	s := &lent{id: "sb-" + rand.Text(), task: "ta-" + rand.Text(), request: req, machine: machine.New(c.tb),
		ended: make(chan struct{}), execs: map[string]*execution{}, committed: map[string][]byte{}}
	s.key = jwt(s.task, c.keysLife)
	for _, mount := range req.GetDefinition().GetVolumeMounts() {
		if err := s.mount(mount.GetMountPath(), c.committed(mount.GetVolumeId())); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s.created = c.later()
	c.sandboxes[s.id] = s
	return s, nil
}

func (c *cloud) committed(volume string) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byID(volume).files
}

func (c *cloud) byID(id string) *volume {
	for _, v := range c.volumes {
		if v.id == id {
			return v
		}
	}
	return nil
}

// environ is what programs find that are started in a machine: Modal has variables
// of its own there.
func (s *lent) environ() []string {
	return []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
		"MODAL_TASK_ID=" + s.task, "MODAL_SANDBOX_ID=" + s.id, "MODAL_CLOUD_PROVIDER=CLOUD_PROVIDER_AWS"}
}

func (s *lent) mount(path string, files []byte) error {
	if err := s.do(nil, "mkdir", "-p", path); err != nil || len(files) == 0 {
		return err
	}
	return s.do(files, "tar", "--numeric-owner", "-xpf", "-", "-C", path)
}

func (s *lent) do(stdin []byte, argv ...string) error {
	out, code, err := s.machine.Do(context.Background(), machine.Cmd{Argv: argv, Env: s.environ()}, bytes.NewReader(stdin))
	if err != nil || code != 0 {
		return fmt.Errorf("%s: %w, %d: %s", strings.Join(argv, " "), err, code, out)
	}
	return nil
}

// finish ends a sandbox, as whoever lends it may at any time. What is in volumes is
// committed first.
func (c *cloud) finish(s *lent, why pb.GenericResult_GenericStatus) {
	s.end.Do(func() {
		c.commit(s)
		s.machine.Stop()
		c.mu.Lock()
		defer c.mu.Unlock()
		s.result = why
		close(s.ended)
	})
	<-s.ended
}

// commit has others see what a sandbox wrote to its volumes, once they are made.
func (c *cloud) commit(s *lent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, mount := range s.request.GetDefinition().GetVolumeMounts() {
		out, code, err := s.machine.Do(context.Background(), machine.Cmd{
			Argv: []string{"tar", "--numeric-owner", "-cpf", "-", "-C", mount.GetMountPath(), "."}, Env: s.environ()}, nil)
		if err != nil || code != 0 {
			c.tb.Errorf("committing %s: %v, %d: %s", mount.GetMountPath(), err, code, out)
		}
		if bytes.Equal(out, s.committed[mount.GetVolumeId()]) {
			continue // others may have written since
		}
		s.committed[mount.GetVolumeId()] = out
		c.mu.Lock()
		if v := c.byID(mount.GetVolumeId()); v != nil {
			v.files = out
		}
		c.mu.Unlock()
	}
}

func (s *lent) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// alive lists the ids of the sandboxes that are not over, the newest first.
func (c *cloud) alive() (ids []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*lent
	for _, s := range c.sandboxes {
		if !s.over() {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *lent) int { return int(b.created - a.created) })
	for _, s := range all {
		ids = append(ids, s.id)
	}
	return ids
}

func (c *cloud) sandbox(id string) (*lent, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.sandboxes[id]
	if s == nil {
		return nil, status.Errorf(codes.NotFound, "no sandbox %s", id)
	}
	return s, nil
}

// only is the one sandbox that is not over.
func (c *cloud) only() *lent {
	c.tb.Helper()
	ids := c.alive()
	if len(ids) != 1 {
		c.tb.Fatalf("%d sandboxes are alive, want one", len(ids))
	}
	s, _ := c.sandbox(ids[0])
	return s
}

func (c *cloud) called(method string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[method]
}

// jwt is what a client may look into for when it ends.
func jwt(subject string, life time.Duration) string {
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none"}`)) + "." + encode(fmt.Appendf(nil, `{"sub":%q,"exp":%d}`, subject, time.Now().Add(life).Unix())) +
		".c2ln"
}
