package gateway

import (
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/bailiff-dev/bailiff"
	"github.com/bailiff-dev/bailiff/api"
)

type event struct{ name, data string }

// events reads a whole stream strictly.
func events(t testing.TB, a answerBytes) (list []event) {
	t.Helper()
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("answered %d %s: %s", a.status, a.header.Get("Content-Type"), a.body)
	}
	text, whole := strings.CutSuffix(string(a.body), "\n\n")
	if !whole {
		t.Fatalf("the stream ends in the middle of an event: %q", a.body)
	}
	for _, block := range strings.Split(text, "\n\n") {
		name, data, ok := strings.Cut(strings.TrimPrefix(block, "event: "), "\ndata: ")
		if !ok || strings.Contains(data, "\n") {
			t.Fatalf("%q is no event", block)
		}
		list = append(list, event{name, data})
	}
	return list
}

// streaming answers a request with pieces of output.
func streaming(t testing.TB, pieces ...string) []event {
	e := &enforcer{execute: func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: allowed}})
		for _, piece := range pieces {
			news(bailiff.Progress{Output: []byte(piece)})
		}
		return completed(req, strings.Join(pieces, ""))
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	return events(t, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
}

func TestAStreamTellsLongSteps(t *testing.T) {
	e := &enforcer{execute: func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Step: "pulling image debian:12"})
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: allowed}})
		return completed(req, "")
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	list := events(t, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
	if want := (event{"progress", `{"step":"pulling image debian:12"}`}); len(list) != 3 || list[0] != want || list[1].name != "decision" ||
		list[2].name != "result" {
		t.Errorf("the events are %v", list)
	}
}

func TestAStreamTellsWhatIsRefusedOnTheWayOut(t *testing.T) {
	e := &enforcer{execute: func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Decision: &bailiff.Decided{ID: "d1", Decision: allowed}})
		news(bailiff.Progress{Blocked: &bailiff.Blocked{Host: "a.test", Port: 443, Rule: "egress.not_in_table", Message: "No.", Count: 1}})
		return completed(req, "")
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	list := events(t, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
	want := event{"egress", `{"host":"a.test","port":443,"rule":"egress.not_in_table","message":"No.","count":1}`}
	if len(list) != 3 || list[1] != want || list[2].name != "result" {
		t.Errorf("the events are %v", list)
	}
}

func TestAStreamTellsTheDecisionTheOutputAndOneResult(t *testing.T) {
	list := streaming(t, "one\n", "two\n")
	var names []string
	for _, e := range list {
		names = append(names, e.name)
	}
	if got, want := strings.Join(names, " "), "decision output output result"; got != want {
		t.Fatalf("the events are %s, want %s", got, want)
	}
	var d api.Decided
	var o api.Output
	var a api.Answer
	for i, into := range []any{&d, nil, &o, &a} {
		if into == nil {
			continue
		}
		if err := json.Unmarshal([]byte(list[i].data), into, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("reading %s: %v", list[i].data, err)
		}
	}
	if d.DecisionID != "d1" || d.Decision.Outcome != bailiff.Allow {
		t.Errorf("the decision is %+v", d)
	}
	if want := (api.Output{Seq: 2, Data: "two\n", Encoding: "utf8"}); o != want {
		t.Errorf("the output is %+v, want %+v", o, want)
	}
	if a.Status != bailiff.Completed || a.Output != "one\ntwo\n" || a.RequestID != "d1" {
		t.Errorf("the result is %+v", a)
	}
}

func TestOutputInPiecesKeepsItsBytes(t *testing.T) {
	for _, test := range []struct {
		name      string
		pieces    []string
		encodings string
	}{
		{"plain text", []string{"a", "b"}, "utf8 utf8"},
		{"a character cut in two", []string{"gr\xc3", "\xbc\xc3\x9fe"}, "utf8 utf8"},
		{"a character that comes byte by byte", []string{"\xf0", "\x9f", "\x98", "\x80"}, "utf8"},
		{"a character whose end never comes", []string{"a", "\xf0\x9f"}, "utf8 base64"},
		{"bytes that are no text", []string{"a", "\xff\xfe", "b"}, "utf8 base64 utf8"},
		{"the start of a character, then something else", []string{"\xc3", "a"}, "base64"},
		{"an end without a start", []string{"\x80\x80\x80\x80\x80"}, "base64"},
		{"line ends that would end an event", []string{"a\n\ndata: x\r\n"}, "utf8"},
		{"nothing", nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got bytes.Buffer
			var encodings []string
			for _, e := range streaming(t, test.pieces...) {
				if e.name != "output" {
					continue
				}
				var o api.Output
				if err := json.Unmarshal([]byte(e.data), &o); err != nil {
					t.Fatal(err)
				}
				piece, err := o.Bytes()
				if err != nil {
					t.Fatal(err)
				}
				got.Write(piece)
				encodings = append(encodings, o.Encoding)
			}
			if want := strings.Join(test.pieces, ""); got.String() != want {
				t.Errorf("the output is %q, want %q", got.String(), want)
			}
			if e := strings.Join(encodings, " "); e != test.encodings {
				t.Errorf("the encodings are %s, want %s", e, test.encodings)
			}
		})
	}
}

func TestOutputThatIsNoTextIsAnsweredAsBase64(t *testing.T) {
	e := &enforcer{execute: func(_ context.Context, req bailiff.Request, _ func(bailiff.Progress)) bailiff.Answer {
		return completed(req, "\xff\x00")
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	var a api.Answer
	c.post("/v1/execute", telegramRequest).into(t, http.StatusOK, &a)
	if output, err := a.Bytes(); err != nil || string(output) != "\xff\x00" || a.OutputEncoding != "base64" {
		t.Errorf("the output is %q (%s, %v)", output, a.OutputEncoding, err)
	}
}

func TestAnotherRequestUnderTheSameIDIsRefusedEitherWay(t *testing.T) {
	e := &enforcer{execute: func(context.Context, bailiff.Request, func(bailiff.Progress)) bailiff.Answer {
		return bailiff.Answer{Status: bailiff.Failed, Code: bailiff.CodeConflict,
			Message: "Another request is known under this request id."}
	}}
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(e))))
	if p := c.post("/v1/execute", telegramRequest).problem(t, http.StatusConflict); p.Code != bailiff.CodeConflict {
		t.Errorf("the problem is %+v", p)
	}
	list := events(t, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
	if len(list) != 1 || list[0].name != "result" || !strings.Contains(list[0].data, `"status":"error"`) ||
		!strings.Contains(list[0].data, bailiff.CodeConflict) {
		t.Errorf("the stream is %+v", list)
	}
}

func TestARequestThatIsNotUnderstoodIsNoStream(t *testing.T) {
	c := callerOf(t, open(t, ListenerConfig{}, agentHandler(t, agentOf(&enforcer{}))))
	c.post("/v1/execute", "{}", "Accept", "text/event-stream").problem(t, http.StatusBadRequest)
}

func TestAStreamThatBreaksStillEndsInAResult(t *testing.T) {
	e := &enforcer{execute: func(_ context.Context, _ bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		news(bailiff.Progress{Output: []byte("one\n")})
		panic("a bug")
	}}
	d := open(t, ListenerConfig{}, agentHandler(t, agentOf(e)))
	c := callerOf(t, d)
	list := events(t, c.post("/v1/execute", telegramRequest, "Accept", "text/event-stream"))
	last := list[len(list)-1]
	if last.name != "result" || !strings.Contains(last.data, `"status":"error"`) || strings.Contains(last.data, "a bug") {
		t.Errorf("the last event is %+v", last)
	}
}

func TestARequestWithoutNewsSaysThatItLives(t *testing.T) {
	heard := make(chan struct{})
	e := &enforcer{execute: func(_ context.Context, req bailiff.Request, news func(bailiff.Progress)) bailiff.Answer {
		for range 3 {
			<-heard
			news(bailiff.Progress{Output: []byte("more\n")})
		}
		return completed(req, "")
	}}
	c := agentOf(e)
	c.keepAlive = time.Millisecond
	l := execute(t, open(t, ListenerConfig{}, agentHandler(t, c)))
	for i := range 3 {
		for range 3 {
			if block := l.block(t); block != ": still here\n" {
				t.Fatalf("want a comment, is %q", block)
			}
		}
		heard <- struct{}{}
		var o api.Output
		if l.next(t, "output", &o); o != (api.Output{Seq: i + 1, Data: "more\n", Encoding: "utf8"}) {
			t.Errorf("the output is %+v", o)
		}
	}
	var a api.Answer
	if l.next(t, "result", &a); a.Status != bailiff.Completed {
		t.Errorf("the result is %+v", a)
	}
	if rest := l.rest(t); len(rest) > 0 {
		t.Errorf("after the result: %q", rest)
	}
}
