package direct

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bailiff-dev/bailiff/backends/runner/wire"
)

// Bounds on what is kept at once.
const (
	mostDoors   = 512 // listeners
	mostStreams = 16  // connections to the resolver
)

// port is that of every resolver.
const port = 53

// Client is who says what names there are.
type Client struct {
	// Next is the number of another query, and Ask hands it on.
	Next func() uint32
	Ask  func(number uint32, query wire.Query)
	// Label is that of the command that a process belongs to, 0 where none does.
	Label func(pid int) uint32
	// Take takes a connection over.
	Take func(fd int)
}

// Way is the resolver and the listeners of one client.
type Way struct {
	Client
	over                 chan struct{}
	packets, connections *os.File // the resolver's sockets

	mu sync.Mutex
	// asked holds, by the number of each open query, the function that takes its answer.
	asked   map[uint32]func(answer []byte)
	streams int
	// doors are the listeners, the one that was named longest ago first.
	doors  []*door
	closed bool
}

// door is a listener at an address that stands for a name.
type door struct {
	number uint32
	port   int
	file   *os.File
}

// Open has programs find a resolver, which answers once the way is served.
func Open(client Client) (*Way, error) {
	if err := checkResolver(); err != nil {
		return nil, err
	}
	w := &Way{Client: client, over: make(chan struct{}), asked: map[uint32]func([]byte){}}
	packets, err := bind(unix.SOCK_DGRAM, wire.ResolverNumber, port)
	if err != nil {
		return nil, fmt.Errorf("listening at port %d: %w", port, err)
	}
	streams, err := bind(unix.SOCK_STREAM, wire.ResolverNumber, port)
	if err != nil {
		packets.Close()
		return nil, fmt.Errorf("listening at port %d: %w", port, err)
	}
	w.packets, w.connections = packets, streams
	return w, nil
}

// Serve has queries answered from now on.
func (w *Way) Serve() {
	go w.hearPackets(w.packets)
	go Accept(w.connections, w.hearStream)
}

// resolvers is where programs read which resolver there is.
const resolvers = "/etc/resolv.conf"

// checkResolver is nil if programs are led to this resolver first.
func checkResolver() error {
	text, err := os.ReadFile(resolvers)
	if err != nil {
		return fmt.Errorf("reading which resolver programs are led to: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && words[0] == "nameserver" {
			if words[1] == wire.Resolver {
				return nil
			}
			break
		}
	}
	return errors.New(resolvers + " leads programs to another resolver, or to none")
}

// bind makes a socket at an address that has a number, which listens if it is for connections.
func bind(kind int, number uint32, port int) (*os.File, error) {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("making a socket: %w", err)
	}
	if kind == unix.SOCK_STREAM {
		err = unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1) // over what closed connections leave
	}
	if err == nil {
		err = unix.Bind(fd, &unix.SockaddrInet4{Port: port, Addr: wire.Address(number)})
	}
	if err == nil && kind == unix.SOCK_STREAM {
		err = unix.Listen(fd, unix.SOMAXCONN)
	}
	if err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), ""), nil
}

// Answer gives a query its answer, once programs can reach what that names.
func (w *Way) Answer(query uint32, payload []byte) {
	name, err := wire.Decode[wire.Name](payload)
	w.mu.Lock()
	answer := w.asked[query]
	delete(w.asked, query)
	w.mu.Unlock()
	if answer == nil {
		return
	}
	switch {
	case err != nil:
		answer(nil)
	case w.listenAt(name.Number, name.Ports):
		answer([]byte(name.Answer))
	default:
		answer([]byte(name.Failure))
	}
}

// listenAt has an address listen at ports. It is false where none of these can be.
func (w *Way) listenAt(number uint32, ports []int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	open := 0
	for _, port := range ports {
		if w.renew(number, port) || w.open(number, port) {
			open++
		}
	}
	for len(w.doors) > mostDoors {
		w.doors[0].file.Close()
		w.doors = w.doors[1:]
	}
	return open > 0 || len(ports) == 0
}

// renew says whether there is such a door, which then was named last. w.mu is held.
func (w *Way) renew(number uint32, port int) bool {
	at := slices.IndexFunc(w.doors, func(d *door) bool { return d.number == number && d.port == port })
	if at < 0 {
		return false
	}
	d := w.doors[at]
	w.doors = append(slices.Delete(w.doors, at, at+1), d)
	return true
}

// open makes a door. w.mu is held.
func (w *Way) open(number uint32, port int) bool {
	if w.closed {
		return false
	}
	file, err := bind(unix.SOCK_STREAM, number, port)
	if err != nil { // a program inside listens at all addresses, or there is no room
		return false
	}
	w.doors = append(w.doors, &door{number, port, file})
	go Accept(file, w.Take)
	return true
}

// query hands a query on, unless too many were not answered. Who asked is looked for after that: it is costly.
func (w *Way) query(text []byte, owner func() int, answer func([]byte)) bool {
	number := w.Next()
	if !w.expect(number, answer) {
		return false
	}
	w.Ask(number, wire.Query{Label: w.Label(owner()), Text: string(text)})
	return true
}

func (w *Way) expect(number uint32, answer func([]byte)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.asked) >= wire.MaxAsked {
		return false
	}
	w.asked[number] = answer
	return true
}

// hearPackets takes queries that come as packets.
func (w *Way) hearPackets(socket *os.File) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	packet := make([]byte, wire.MaxQuery+1)
	for {
		size, from := 0, unix.Sockaddr(nil)
		closed := raw.Read(func(fd uintptr) bool {
			size, from, err = unix.Recvfrom(int(fd), packet, 0)
			return err != unix.EAGAIN
		})
		switch {
		case closed != nil:
			return
		case err != nil:
			time.Sleep(breath)
		case size <= wire.MaxQuery:
			w.query(packet[:size], func() int { return Owner("udp", from, nil) }, func(answer []byte) {
				if len(answer) > 0 {
					_ = raw.Control(func(fd uintptr) { _ = unix.Sendto(int(fd), answer, unix.MSG_DONTWAIT, from) }) // it may be lost
				}
			})
		}
	}
}

// Close closes all there is. What has been handed on stays open.
func (w *Way) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	close(w.over)
	for _, d := range w.doors {
		d.file.Close()
	}
	w.packets.Close()
	w.connections.Close()
	w.doors, w.asked = nil, nil
}

// breath is how long nothing is taken when there is no room for another file.
const breath = 100 * time.Millisecond

// Accept takes connections until the listener is closed.
func Accept(listener *os.File, take func(fd int)) {
	raw, err := listener.SyscallConn()
	if err != nil {
		return
	}
	for {
		fd := -1
		err := raw.Read(func(listening uintptr) bool {
			fd, _, err = unix.Accept4(int(listening), unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
			return err != unix.EAGAIN
		})
		switch {
		case err != nil:
			return
		case fd < 0:
			time.Sleep(breath)
		default:
			take(fd)
		}
	}
}
