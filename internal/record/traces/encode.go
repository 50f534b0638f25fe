package traces

import (
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/bailiff-dev/bailiff"
)

const (
	// longestText bounds a text of an attribute in bytes, longestCommand what was to run,
	// mostRules how many rules are named.
	longestText    = 128
	longestCommand = 1000
	mostRules      = 20
)

// sampled says in a span's flags that it is exported, knowsParent that it says whether
// its parent is remote, and remoteParent that it is.
const sampled, knowsParent, remoteParent = 0x001, 0x100, 0x200

// encode words a part that ends now as it is sent.
func (t *Tracer) encode(p *part, said bailiff.Span) *tracepb.Span {
	s := &tracepb.Span{
		TraceId: p.trace[:], SpanId: p.id[:], Name: p.name, Kind: tracepb.Span_SPAN_KIND_INTERNAL, Flags: sampled | knowsParent,
		StartTimeUnixNano: nanoseconds(p.begun), EndTimeUnixNano: nanoseconds(p.begun.Add(time.Since(p.begun))),
		Attributes: t.attributes(said),
	}
	if p.parent.IsValid() {
		s.ParentSpanId = p.parent[:]
	}
	if p.first {
		s.Kind = tracepb.Span_SPAN_KIND_SERVER
	}
	if p.first && p.parent.IsValid() {
		s.Flags |= remoteParent
	}
	if said.Failed {
		s.Status = &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR}
	}
	return s
}

func nanoseconds(at time.Time) uint64 { return uint64(at.UnixNano()) } //nolint:gosec // after 1970

// attributes are what a span says besides its times. Those that say nothing are left out.
func (t *Tracer) attributes(said bailiff.Span) []*commonpb.KeyValue {
	var all []*commonpb.KeyValue
	text := func(name, value string, most int) {
		if value != "" {
			all = append(all, attribute(name, t.textOf(value, most)))
		}
	}
	text("bailiff.tool", string(said.Tool), longestText)
	text("bailiff.platform", said.Platform, longestText)
	text("bailiff.chat_type", said.ChatType, longestText)
	text("bailiff.request_id", said.RequestID, longestText)
	text("bailiff.decision_id", said.DecisionID, longestText)
	text("bailiff.backend", said.Backend, longestText)
	text("bailiff.outcome", said.Outcome, longestText)
	text("bailiff.code", said.Code, longestText)
	if said.Unattended {
		all = append(all, attribute("bailiff.unattended", &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: true}}))
	}
	if len(said.Rules) > 0 {
		all = append(all, attribute("bailiff.rules", t.textsOf(said.Rules)))
	}
	if t.cfg.Commands {
		text("bailiff.command", said.Text, longestCommand)
	}
	return all
}

func attribute(name string, value *commonpb.AnyValue) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: name, Value: value}
}

// textOf is scrubbed before it is cut, so that no part of a secret is left over.
func (t *Tracer) textOf(value string, most int) *commonpb.AnyValue {
	value = strings.ToValidUTF8(string(t.cfg.Scrub([]byte(value))), "\uFFFD")
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: bailiff.Beginning(value, most)}}
}

func (t *Tracer) textsOf(values []string) *commonpb.AnyValue {
	list := &commonpb.ArrayValue{}
	for _, value := range values[:min(len(values), mostRules)] {
		list.Values = append(list.Values, t.textOf(value, longestText))
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
}

// document is what is sent of some spans. On the wire it is what the collector's service
// takes, whose own type would bring a server of gRPC with it.
func document(version string, spans []*tracepb.Span) *tracepb.TracesData {
	from := func(name, value string) *commonpb.KeyValue {
		return attribute(name, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}})
	}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{from("service.name", "bailiff"),
			from("service.version", version)}},
		ScopeSpans: []*tracepb.ScopeSpans{{Scope: &commonpb.InstrumentationScope{Name: "bailiff"}, Spans: spans}},
	}}}
}
