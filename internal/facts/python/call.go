package python

import (
	"strings"

	"github.com/bailiff-dev/bailiff/internal/facts/value"
)

// pyCall is what a call is given.
type pyCall struct {
	name     string
	args     []pyValues
	keywords map[string]pyValues
	// open says that there may be more arguments.
	open bool
}

// arg is the argument at a place or under a name.
func (c *pyCall) arg(i int, name string) (pyValues, bool) {
	if vs, ok := c.keywords[name]; ok && name != "" {
		return vs, true
	}
	if i >= 0 && i < len(c.args) {
		return c.args[i], true
	}
	if c.open {
		return pyHidden("value", value.Taint{}), true
	}
	return nil, false
}

// first is the argument that a call is about.
func (c *pyCall) first() pyValues {
	if len(c.args) > 0 {
		return c.args[0]
	}
	return nil
}

func (c *pyCall) tainted() value.Taint {
	var all value.Taint
	for _, vs := range c.args {
		all = all.With(vs.tainted())
	}
	for _, vs := range c.keywords {
		all = all.With(vs.tainted())
	}
	return all
}

// escapeAll notes that all arguments went into code that is not followed.
func (c *pyCall) escapeAll(w *pyWalk) {
	for _, vs := range c.args {
		w.escape(vs)
	}
	for _, vs := range c.keywords {
		w.escape(vs)
	}
}

func (w *pyWalk) call(e *pyExpr) pyValues {
	callee := e.kids[0]
	if callee.form == pyAttributeForm {
		return w.callMember(callee, e)
	}
	callees := w.value(callee)
	c := w.arguments(e)
	var out pyValues
	for _, v := range callees {
		out = out.with(w.callValue(v, c))
	}
	return out
}

func (w *pyWalk) callMember(callee, e *pyExpr) pyValues {
	base := w.value(callee.kids[0])
	if revealing[callee.text] {
		w.dynamic()
	}
	c := w.arguments(e)
	var out pyValues
	for _, b := range base {
		switch {
		case b.shape == pySymbol:
			out = out.with(w.callSymbol(canonical(b.text+"."+callee.text), c))
		case b.shape == pyCallable && b.function.class:
			for _, m := range w.classMember(b.function, callee.text) {
				out = out.with(w.callValue(m, c))
			}
		default:
			out = out.with(w.method(b, callee, c))
		}
	}
	return out
}

func (w *pyWalk) callValue(v pyValue, c *pyCall) pyValues {
	switch {
	case v.shape == pySymbol:
		return w.callSymbol(v.text, c)
	case v.shape == pyCallable:
		return w.apply(v.function, c)
	case v.shape == pyObject && v.text == "getattr":
		w.dynamic()
	}
	c.escapeAll(w)
	return pyHidden("value", v.Taint.With(c.tainted()))
}

func (w *pyWalk) arguments(e *pyExpr) *pyCall {
	c := &pyCall{keywords: map[string]pyValues{}}
	for i, name := range e.names {
		vs := w.value(e.kids[i+1])
		switch name {
		case "":
			c.args = append(c.args, vs)
		case "*":
			c.spread(vs)
		case "**":
			c.spreadNamed(w, vs)
		default:
			c.keywords[name] = vs
		}
	}
	return c
}

func (c *pyCall) spread(vs pyValues) {
	if len(vs) == 1 && vs[0].shape == pyList && !vs[0].open {
		c.args = append(c.args, vs[0].items...)
		return
	}
	c.args = append(c.args, elements(vs, "value"))
	c.open = true
}

func (c *pyCall) spreadNamed(w *pyWalk, vs pyValues) {
	for _, v := range vs {
		if v.shape != pyDict || v.open {
			c.open = true
		}
		for i := 0; v.shape == pyDict && i+1 < len(v.items); i += 2 {
			if name, ok := v.items[i].only(); ok {
				c.keywords[name] = c.keywords[name].with(v.items[i+1])
			} else {
				c.open = true
			}
		}
		if v.shape == pySymbol {
			w.escape(vs)
		}
	}
}

// callSymbol is a call of something imported or built in.
func (w *pyWalk) callSymbol(name string, c *pyCall) pyValues {
	c.name = name
	w.note(&w.notes.calls, name)
	w.network(c)
	w.harm(c)
	d, known := pyDeeds[name]
	if !known {
		d = deedOfModule(name)
	}
	return w.do(d, c)
}

// networkModules are the modules whose calls reach the network.
var networkModules = []string{
	"requests.", "urllib.request.", "urllib2.", "urllib.urlopen", "urllib.urlretrieve", "urllib3.", "http.client.", "httplib.", "httpx.", "aiohttp.", "socket.", "ssl.",
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
func (w *pyWalk) network(c *pyCall) {
	for _, key := range []string{"host", "hostname", "server"} {
		w.noteHosts(c.keywords[key])
	}
	if !reachesNetwork(c.name) {
		return
	}
	w.feature(value.FeatureNetwork)
	switch {
	case hostFirst[c.name]:
		w.noteHosts(c.first())
	case c.name == "socket.create_connection":
		w.noteAddress(c.first())
	case strings.HasPrefix(c.name, "requests.") || strings.HasPrefix(c.name, "urllib"):
		w.noteFetch(c)
	}
}

var hostFirst = map[string]bool{
	"smtplib.SMTP": true, "smtplib.SMTP_SSL": true, "ftplib.FTP": true, "ftplib.FTP_TLS": true,
	"http.client.HTTPConnection": true, "http.client.HTTPSConnection": true, "httplib.HTTPConnection": true, "httplib.HTTPSConnection": true,
	"telnetlib.Telnet": true, "poplib.POP3": true, "poplib.POP3_SSL": true, "imaplib.IMAP4": true, "imaplib.IMAP4_SSL": true,
	"socket.gethostbyname": true, "socket.getaddrinfo": true,
}

func (w *pyWalk) noteHosts(vs pyValues) {
	for _, v := range vs {
		if v.shape == pyString && v.text != "" {
			if host := value.BareHost(shown(v.text)); host != "0.0.0.0" {
				w.note(&w.notes.hosts, host)
			}
		}
	}
}

// noteAddress notes the host of a (host, port).
func (w *pyWalk) noteAddress(vs pyValues) {
	for _, v := range vs {
		if v.shape == pyList && len(v.items) == 2 {
			w.noteHosts(v.items[0])
		}
	}
}

// noteFetch notes a file that a call fills from the network.
func (w *pyWalk) noteFetch(c *pyCall) {
	if !strings.HasSuffix(c.name, ".urlretrieve") {
		return
	}
	if to, ok := c.arg(1, "filename"); ok {
		w.writes(to)
		w.fill(to, nil, value.Taint{Fetched: true})
	}
}

// fill notes what a program writes to files: texts, or something unknown.
func (w *pyWalk) fill(files pyValues, with pyValues, t value.Taint) {
	if !w.noting {
		return
	}
	for _, f := range files {
		if f.shape != pyString && f.shape != pyPath && f.shape != pyFile {
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

// method is a call of a method of a value.
func (w *pyWalk) method(b pyValue, callee *pyExpr, c *pyCall) pyValues {
	name := callee.text
	if callee.kids[0].form == pyNameForm {
		w.mutate(callee.kids[0].text, b, name, c)
	}
	if b.shape == pyObject && !strings.HasPrefix(b.text, ".") {
		c.name = b.text + "." + name
		w.objectMethod(b, name, c)
	}
	switch b.shape {
	case pyString:
		if vs, ok := w.textMethod(b, name, c); ok {
			return vs
		}
	case pyPath:
		return w.pathMethod(b, name, c)
	case pyFile:
		return w.fileMethod(b, name, c)
	case pyDict:
		if name == "get" && len(c.args) > 0 {
			return dictItem(b, c.args[0]).with(w.optional(c, 1))
		}
	}
	return w.ownMethod(b, callee, c)
}

func (w *pyWalk) optional(c *pyCall, i int) pyValues {
	if i < len(c.args) {
		return c.args[i]
	}
	return nil
}

// ownMethod is a call of a method that the program defines, or of an unknown one.
func (w *pyWalk) ownMethod(b pyValue, callee *pyExpr, c *pyCall) pyValues {
	var out pyValues
	own := false
	for _, m := range w.methods[callee.text] {
		own = true
		given := w.apply(m, c)
		if m.define.decorated {
			// A property's value is what is called.
			w.escape(given)
		}
		out = out.with(given)
	}
	for _, v := range w.attributes[callee.text] {
		if v.shape == pyCallable && v.function.method {
			continue
		}
		out = out.with(w.callValue(v, c))
	}
	if own && (b.shape == pyObject && strings.HasPrefix(b.text, ".") || callee.kids[0].form == pyNameForm && callee.kids[0].text == "self") {
		return out
	}
	c.escapeAll(w)
	return out.with(pyHidden("value", b.allTaint().With(c.tainted())))
}

// mutate follows what methods do to the list in a variable.
func (w *pyWalk) mutate(variable string, b pyValue, name string, c *pyCall) {
	if b.shape != pyList && b.shape != pyDict {
		return
	}
	switch {
	case b.shape == pyList && name == "append" && len(c.args) == 1:
		w.regrow(variable, func(v pyValue) pyValue { return v.extended(pyValues{{shape: pyList, items: c.args}}) })
	case b.shape == pyList && name == "extend" && len(c.args) == 1:
		w.regrow(variable, func(v pyValue) pyValue { return v.extended(c.args[0]) })
	case b.shape == pyList && (name == "insert" || name == "pop" || name == "remove" || name == "reverse" || name == "sort" || name == "clear"),
		b.shape == pyDict && (name == "update" || name == "pop" || name == "clear" || name == "setdefault"):
		w.loosen(variable)
	}
}

func (w *pyWalk) regrow(variable string, grow func(pyValue) pyValue) {
	vs, _ := w.lookup(variable)
	var out pyValues
	for _, v := range vs {
		if v.shape == pyList && !v.open {
			v = grow(v)
			// In a loop there may be any number of them, after the first items.
			v.open = v.open || w.loops > 0 || len(v.items) > maxPyRounds
		}
		out = out.with(pyValues{v})
	}
	w.set(variable, w.bounded(out))
}

// objectMethod notes what methods of well-known objects do.
func (w *pyWalk) objectMethod(b pyValue, name string, c *pyCall) {
	last := b.text[strings.LastIndexByte(b.text, '.')+1:]
	if last != "" && last[0] >= 'A' && last[0] <= 'Z' || b.text == "socket.socket" {
		w.note(&w.notes.calls, c.name)
	}
	w.network(c)
	w.harm(c)
	switch {
	case name == "connect" || name == "connect_ex" || name == "sendto":
		for _, vs := range c.args {
			w.noteAddress(vs)
		}
		if reachesNetwork(b.text) {
			w.noteHosts(c.first())
		}
	case strings.HasPrefix(b.text, "paramiko.") && name == "exec_command", strings.HasPrefix(b.text, "fabric.") && name == "run":
		// The command runs on another host.
		w.hide()
	case b.text == "subprocess.Popen" && name == "communicate":
		return
	}
}
