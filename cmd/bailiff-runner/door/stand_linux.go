package door

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// inner is the name at which the door listens in the pod's network, and outer the file at which it does in its own container.
const (
	inner = "@bailiff-runner"
	outer = wire.DoorFolder + "/door"
)

// Stand is the door until the runner has gone, or this process is told to. With the argument [wire.Severed] it wants no network to be
// there.
func Stand(rest []string) error {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		os.Exit(0)
	}()
	if slices.Contains(rest, wire.Severed) {
		if err := checkSevered(); err != nil {
			return err
		}
	}
	clients, err := net.Listen("unix", outer)
	if err != nil {
		return fmt.Errorf("listening for clients: %w", err)
	}
	runner, err := acceptOnce()
	if err != nil {
		return fmt.Errorf("waiting for the runner: %w", err)
	}
	r := &relay{runner: runner}
	go r.serve(clients)
	return r.carryOut()
}

// acceptOnce takes the one connection, and closes the listener with all that wait at it.
func acceptOnce() (net.Conn, error) {
	listener, err := net.Listen("unix", inner)
	if err != nil {
		return nil, err
	}
	conn, err := listener.Accept()
	return conn, errors.Join(err, listener.Close())
}

// relay carries bytes between the runner and the client that came last.
type relay struct {
	runner net.Conn

	mu     sync.Mutex
	client net.Conn
}

// serve gives the runner to one client after the other: a later one ends the earlier.
func (r *relay) serve(clients net.Listener) {
	done := make(chan struct{})
	close(done)
	for {
		client, err := clients.Accept()
		if err != nil {
			return
		}
		if earlier := r.swap(client); earlier != nil {
			earlier.Close()
		}
		<-done
		done = make(chan struct{})
		go r.carryIn(client, done)
	}
}

func (r *relay) swap(client net.Conn) (earlier net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	earlier, r.client = r.client, client
	return earlier
}

// carryIn hands on what a client says.
func (r *relay) carryIn(client net.Conn, done chan struct{}) {
	defer close(done)
	_, _ = io.Copy(r.runner, client) // a runner that has gone ends the door
	r.mu.Lock()
	defer r.mu.Unlock()
	client.Close()
	if r.client == client {
		r.client = nil
	}
}

// carryOut hands on what the runner says, until it has gone.
func (r *relay) carryOut() error {
	piece := make([]byte, 64<<10)
	for {
		n, err := r.runner.Read(piece)
		r.mu.Lock()
		client := r.client
		r.mu.Unlock()
		if client != nil && n > 0 {
			_, _ = client.Write(piece[:n]) // one that has gone is noticed where it is read
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("hearing the runner: %w", err)
		}
	}
}

// Enter is a client of the door, by this process's input and output.
func Enter() error {
	conn, err := net.Dial("unix", outer)
	if err != nil {
		return fmt.Errorf("coming to the door: %w", err)
	}
	defer conn.Close()
	go func() {
		_, _ = io.Copy(conn, os.Stdin)
		conn.Close()
	}()
	_, err = io.Copy(os.Stdout, conn)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
