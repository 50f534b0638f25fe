package library

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

func ReachesNetwork(name string) bool {
	for _, module := range networkModules {
		if strings.HasPrefix(name, module) {
			return true
		}
	}
	return false
}

// networkModules are the modules whose calls reach the network.
var networkModules = []string{
	"requests.", "urllib.request.", "urllib2.", "urllib.urlopen", "urllib.urlretrieve", "urllib3.", "http.client.", "httplib.", "httpx.",
	"aiohttp.", "requests_unixsocket.", "webbrowser.open", "socket.", "ssl.",
	"smtplib.", "ftplib.", "paramiko.", "telnetlib.", "poplib.", "imaplib.", "nntplib.", "xmlrpc.client.", "websocket.", "websockets.",
	"boto3.", "pycurl.", "wget.", "fabric.", "asyncssh.", "dns.", "redis.", "psycopg2.", "pymysql.", "pymongo.",
}

var HostFirst = map[string]bool{
	"smtplib.SMTP": true, "smtplib.SMTP_SSL": true, "ftplib.FTP": true, "ftplib.FTP_TLS": true,
	"http.client.HTTPConnection": true, "http.client.HTTPSConnection": true, "httplib.HTTPConnection": true,
	"httplib.HTTPSConnection": true,
	"telnetlib.Telnet":        true, "poplib.POP3": true, "poplib.POP3_SSL": true, "imaplib.IMAP4": true, "imaplib.IMAP4_SSL": true,
	"socket.gethostbyname": true, "socket.getaddrinfo": true,
}

var FileServers = value.SetOf("http.server.test http.server.HTTPServer http.server.ThreadingHTTPServer socketserver.TCPServer " +
	"socketserver.ThreadingTCPServer")
