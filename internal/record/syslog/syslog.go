// Package syslog sends lines of the decision log as messages of syslog (RFC 5424): by UDP
// (RFC 5426), TCP (RFC 6587, octet counting), TLS (RFC 5425) and RELP, which answers.
//
// Here: the messages, the connection, and what each protocol tells of what has come.
// Promised: a message is sent whole, or the error says that it was not; with RELP no error
// means that the receiver has it. Not here: what is sent again, and when, which package
// export decides.
package syslog

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bailiff-dev/bailiff/backends/settings"
	"github.com/bailiff-dev/bailiff/internal/network/httpapi"
	"github.com/bailiff-dev/bailiff/internal/record/logline"
)

// Server is a receiver that bailiff.yaml names.
type Server struct {
	// Address is PROTOCOL://HOST:PORT.
	Address string
	// CAFile holds the certificates of who may vouch for a receiver by TLS; empty means those
	// of this machine.
	CAFile string
	// AcceptPlaintext lets messages go to another machine without TLS.
	AcceptPlaintext bool
}

// Settings are the keys that say so.
func (s *Server) Settings() []settings.Setting {
	return []settings.Setting{
		{Key: "address", Into: &s.Address, Check: checkAddress},
		{Key: "ca_file", Into: &s.CAFile, Path: true, Present: httpapi.IsRoots},
		{Key: "accept_plaintext", Into: &s.AcceptPlaintext},
	}
}

// Check says what is wrong with the settings together.
func (s *Server) Check() error {
	switch {
	case s.Address == "":
		return errors.New("address is missing: say where the events are sent, as in tls://siem.example.com:6514")
	case !s.AcceptPlaintext && isPlain(s.Address):
		return errors.New("address is of another machine, where events would go in the clear: use tls:// or relp+tls://, or say " +
			"accept_plaintext: true")
	}
	return nil
}

// protocol is a way to send.
type protocol struct {
	network string
	tls     bool
	// settles is how long what was sent may still be lost.
	settles time.Duration
	open    func(net.Conn) (link, error)
}

// link is a connection over which messages go.
type link interface {
	send(messages iter.Seq2[[]byte, error]) error
	// end says that no more comes, where the protocol has a word for that.
	end()
}

// unanswered is how long a broken connection may go unnoticed by a protocol without
// answers. A sender's kernel gives up later than that, a receiver that died is seen sooner.
const unanswered = time.Minute

var protocols = map[string]protocol{
	"udp":      {network: "udp", open: openDatagrams},
	"tcp":      {network: "tcp", settles: unanswered, open: openStream},
	"tls":      {network: "tcp", tls: true, settles: unanswered, open: openStream},
	"relp":     {network: "tcp", open: openRELP},
	"relp+tls": {network: "tcp", tls: true, open: openRELP},
}

func checkAddress(address string) error {
	at, err := url.Parse(address)
	if err == nil {
		_, err = strconv.ParseUint(at.Port(), 10, 16)
	}
	if err != nil || at.Hostname() == "" || protocols[at.Scheme].open == nil || address != at.Scheme+"://"+at.Host {
		return errors.New("want udp, tcp, tls, relp or relp+tls with a host and a port, as in tls://siem.example.com:6514")
	}
	return nil
}

// isPlain says whether an address is of another machine, and messages go there unencrypted.
func isPlain(address string) bool {
	at, err := url.Parse(address)
	if err != nil || protocols[at.Scheme].tls {
		return false
	}
	ip := net.ParseIP(at.Hostname())
	return at.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback())
}

// Client sends to one receiver. It is not safe for concurrent use.
type Client struct {
	server   Server
	format   func(line []byte) ([]byte, error)
	protocol protocol
	host     string // of the address
	tls      *tls.Config
	name     string // of this machine
	conn     net.Conn
	link     link
}

// New makes a client that sends lines in a format; nil leaves them as they are. It does not
// connect yet.
func New(server Server, format func(line []byte) ([]byte, error)) (*Client, error) {
	at, err := url.Parse(server.Address)
	if err != nil {
		return nil, err
	}
	name, err := os.Hostname()
	if err != nil {
		return nil, fmt.Errorf("asking this machine's name: %w", err)
	}
	client := &Client{server: server, format: format, protocol: protocols[at.Scheme], host: at.Host, name: name}
	if client.protocol.tls {
		roots, err := httpapi.Roots(server.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading ca_file: %w", err)
		}
		client.tls = &tls.Config{RootCAs: roots, ServerName: at.Hostname(), MinVersion: tls.VersionTLS12}
	}
	return client, nil
}

// String is what errors call the receiver.
func (c *Client) String() string { return "the receiver of syslog at " + c.server.Address }

// Settles is how long what was sent may still be lost with the connection.
func (c *Client) Settles() time.Duration { return c.protocol.settles }

// refused is what a receiver has against a message.
type refused struct{ why string }

func (r refused) Error() string { return "it refuses a message: " + r.why }

// Blames says whether the receiver refuses what it got.
func (*Client) Blames(err error) bool {
	var r refused
	return errors.As(err, &r)
}

// patience is how long a connection, or what is sent at once and its answers, may take.
const patience = 20 * time.Second

// Send sends lines of the log as messages, over the connection of the call before if that
// one still stands.
func (c *Client) Send(ctx context.Context, lines [][]byte, began func(), _ func(error)) error {
	began()
	err := c.send(ctx, c.messages(lines))
	if err == nil {
		return nil
	}
	c.Close()
	return fmt.Errorf("%s: %w", c, err)
}

// messages makes them as they are sent, while the receiver has earlier ones.
func (c *Client) messages(lines [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			m, err := c.message(line)
			if err != nil {
				err = fmt.Errorf("making a message of syslog: %w", err)
			}
			if !yield(m, err) {
				return
			}
		}
	}
}

func (c *Client) send(ctx context.Context, messages iter.Seq2[[]byte, error]) error {
	if c.link == nil {
		if err := c.connect(ctx); err != nil {
			return err
		}
	}
	conn := c.conn
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	return c.link.send(messages)
}

func (c *Client) connect(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dialer := &net.Dialer{KeepAlive: 15 * time.Second}
	if c.tls != nil {
		c.conn, err = (&tls.Dialer{NetDialer: dialer, Config: c.tls}).DialContext(ctx, c.protocol.network, c.host)
	} else {
		c.conn, err = dialer.DialContext(ctx, c.protocol.network, c.host)
	}
	if err != nil {
		return err
	}
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	c.link, err = c.protocol.open(c.conn)
	return err
}

// Close closes the connection; the next call of Send makes another.
func (c *Client) Close() {
	if c.link != nil {
		c.link.end()
	}
	if c.conn != nil {
		_ = c.conn.Close()
	}
	c.conn, c.link = nil, nil
}

// logAudit is the facility of audit logs (RFC 5424, table 1).
const logAudit = 13

// The severities of RFC 5424, table 2, for those of the policies.
var severities = map[string]int{"critical": 2, "high": 3, "medium": 4, "low": 5, "": 6}

func (c *Client) message(line []byte) ([]byte, error) {
	l, _ := logline.Read(line) // one that is no event is sent all the same
	text := line
	if c.format != nil {
		var err error
		if text, err = c.format(line); err != nil {
			return nil, err
		}
	}
	at := "-"
	if stamp := l.Line.Timestamp; !stamp.IsZero() {
		at = stamp.UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	}
	head := fmt.Sprintf("<%d>1 %s %s bailiff %d %s - ", logAudit*8+severityOf(l), at, field(c.name, 255), os.Getpid(),
		field(cmp.Or(string(l.Line.Custom.Event), "unread"), 32))
	return slices.Concat([]byte(head), text), nil
}

// field is a value of a message's head, which has no spaces and ends at a length (RFC 5424, section 6); "-" if it cannot be that.
func field(value string, most int) string {
	if value == "" || len(value) > most || strings.ContainsFunc(value, func(r rune) bool { return r < 33 || r > 126 }) {
		return "-"
	}
	return value
}

func severityOf(l logline.Event) int {
	most := severities[""]
	if l.Line.Error != nil {
		most = severities["high"]
	}
	for _, reason := range slices.Concat(l.Result.Denials, l.Result.Approval.Reasons) {
		if grade, known := severities[reason.Severity]; known {
			most = min(most, grade)
		}
	}
	return most
}
