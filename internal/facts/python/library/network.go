package library

import (
	"slices"
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// ReachesNetwork says that calls of a name reach the network.
func ReachesNetwork(name string) bool {
	top, rest, dotted := strings.Cut(name, ".")
	return dotted && slices.ContainsFunc(networkModules[top], func(start string) bool { return strings.HasPrefix(rest, start) })
}

// networkModules are the modules whose calls reach the network, with how the names of such calls go on.
var networkModules = map[string][]string{
	"urllib": {"request.", "urlopen", "urlretrieve"}, "http": {"client."}, "webbrowser": {"open"}, "xmlrpc": {"client."},
	"requests": all, "urllib2": all, "urllib3": all, "httplib": all, "httpx": all, "aiohttp": all, "requests_unixsocket": all,
	"socket": all, "ssl": all, "smtplib": all, "ftplib": all, "paramiko": all, "telnetlib": all, "poplib": all, "imaplib": all,
	"nntplib": all, "websocket": all, "websockets": all, "boto3": all, "pycurl": all, "wget": all, "fabric": all, "asyncssh": all,
	"dns": all, "redis": all, "psycopg2": all, "pymysql": all, "pymongo": all,
}

var all = []string{""}

var HostFirst = map[string]bool{
	"smtplib.SMTP": true, "smtplib.SMTP_SSL": true, "ftplib.FTP": true, "ftplib.FTP_TLS": true,
	"http.client.HTTPConnection": true, "http.client.HTTPSConnection": true, "httplib.HTTPConnection": true,
	"httplib.HTTPSConnection": true,
	"telnetlib.Telnet":        true, "poplib.POP3": true, "poplib.POP3_SSL": true, "imaplib.IMAP4": true, "imaplib.IMAP4_SSL": true,
	"socket.gethostbyname": true, "socket.getaddrinfo": true,
}

var FileServers = value.SetOf("http.server.test http.server.HTTPServer http.server.ThreadingHTTPServer socketserver.TCPServer " +
	"socketserver.ThreadingTCPServer")
