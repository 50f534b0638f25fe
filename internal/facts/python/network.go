package python

import (
	"net/url"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// networkModules are the modules whose calls reach the network.
var networkModules = []string{
	"requests.", "urllib.request.", "urllib2.", "urllib.urlopen", "urllib.urlretrieve", "urllib3.", "http.client.", "httplib.", "httpx.",
	"aiohttp.", "requests_unixsocket.", "webbrowser.open", "socket.", "ssl.",
	"smtplib.", "ftplib.", "paramiko.", "telnetlib.", "poplib.", "imaplib.", "nntplib.", "xmlrpc.client.", "websocket.", "websockets.",
	"boto3.", "pycurl.", "wget.", "fabric.", "asyncssh.", "dns.", "redis.", "psycopg2.", "pymysql.", "pymongo.",
}

func reachesNetwork(name string) bool {
	for _, module := range networkModules {
		if strings.HasPrefix(name, module) {
			return true
		}
	}
	return false
}

// network notes the hosts that a call names.
func (w *walk) network(c *call) {
	for _, key := range []string{"host", "hostname", "server"} {
		w.noteHosts(c.keywords[key])
	}
	if !reachesNetwork(c.name) {
		return
	}
	w.feature(value.FeatureNetwork)
	w.doors(c)
	switch {
	case hostFirst[c.name]:
		w.noteHosts(c.first())
	case c.name == "socket.create_connection":
		w.noteAddress(c.first())
	case strings.HasPrefix(c.name, "requests.") || strings.HasPrefix(c.name, "urllib"):
		w.noteFetch(c)
	}
}

// doors notes the files and sockets that a call reaches by an address.
func (w *walk) doors(c *call) {
	for _, vs := range c.args {
		for _, v := range vs {
			scheme, rest, found := strings.Cut(v.text, ":")
			switch scheme = strings.ToLower(scheme); {
			case v.shape != isString:
			case c.name == "socket.socket.connect" || c.name == "socket.socket.connect_ex":
				w.writes(objects{v})
			case found && scheme == "file":
				w.reads(objects{v})
			case found && (scheme == "http+unix" || scheme == "unix"):
				w.writes(textOf(socketOf(rest)))
			}
		}
	}
}

// socketOf is the path in the address of a socket, such as //%2Frun%2Fx.sock/info.
func socketOf(rest string) string {
	rest = strings.TrimPrefix(rest, "//")
	if strings.Contains(rest, "%2") {
		rest, _, _ = strings.Cut(rest, "/")
	}
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	return rest
}

var hostFirst = map[string]bool{
	"smtplib.SMTP": true, "smtplib.SMTP_SSL": true, "ftplib.FTP": true, "ftplib.FTP_TLS": true,
	"http.client.HTTPConnection": true, "http.client.HTTPSConnection": true, "httplib.HTTPConnection": true,
	"httplib.HTTPSConnection": true,
	"telnetlib.Telnet":        true, "poplib.POP3": true, "poplib.POP3_SSL": true, "imaplib.IMAP4": true, "imaplib.IMAP4_SSL": true,
	"socket.gethostbyname": true, "socket.getaddrinfo": true,
}

func (w *walk) noteHosts(vs objects) {
	for _, v := range vs {
		if v.shape == isString && v.text != "" {
			if host := value.BareHost(shown(v.text)); host != "0.0.0.0" {
				w.note(&w.notes.hosts, host)
			}
		}
	}
}

// noteAddress notes the host of a (host, port).
func (w *walk) noteAddress(vs objects) {
	for _, v := range vs {
		if v.shape == isList && len(v.items) == 2 {
			w.noteHosts(v.items[0])
		}
	}
}

// noteFetch notes a file that a call fills from the network.
func (w *walk) noteFetch(c *call) {
	if !strings.HasSuffix(c.name, ".urlretrieve") {
		return
	}
	if to, ok := c.arg(1, "filename"); ok {
		w.writes(to)
		w.fill(to, nil, value.Taint{Fetched: true})
	}
}

// fill notes what a program writes to files: texts, or something unknown.
func (w *walk) fill(files objects, with objects, t value.Taint) {
	if !w.noting {
		return
	}
	for _, f := range files {
		if f.shape != isString && f.shape != isPath && f.shape != isFile {
			continue
		}
		p := w.path(f.text)
		w.notes.fetched[p] = w.notes.fetched[p] || t.Fetched || with.tainted().Fetched
		text, known := with.only()
		old, again := w.notes.contents[p]
		switch {
		case !known || again && old == nil || again && len(*old)+len(text) > value.MaxValue:
			w.notes.contents[p] = nil
		case again:
			joined := *old + text
			w.notes.contents[p] = &joined
		default:
			w.notes.contents[p] = &text
		}
	}
}
