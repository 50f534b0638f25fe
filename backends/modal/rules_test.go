package modal

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// rule says what a request must hold and what else it may, by the names of Modal's
// description.
type rule struct {
	need, may string
	holds     func(proto.Message) error
}

var rules = map[string]rule{
	"AuthTokenGet":           {},
	"AppGetOrCreate":         {need: "app_name object_creation_type", may: "environment_name"},
	"EnvironmentGetOrCreate": {may: "deployment_name"},
	"ImageGetOrCreate":       {need: "app_id image.dockerfile_commands builder_version"},
	"ImageJoinStreaming":     {need: "image_id timeout", may: "last_entry_id"},
	"SandboxCreateV2": {
		need: "app_id tags.tag_name tags.tag_value definition.image_id definition.timeout_secs definition.idle_timeout_secs " +
			"definition.name definition.runtime " +
			"definition.network_access.network_access_type",
		may: "definition.resources.milli_cpu definition.resources.milli_cpu_max definition.resources.memory_mb " +
			"definition.resources.memory_mb_max " +
			"definition.volume_mounts.volume_id definition.volume_mounts.mount_path definition.volume_mounts.allow_background_commits",
		holds: func(m proto.Message) error { return right(m.(*pb.SandboxCreateV2Request).GetDefinition()) },
	},
	"SandboxTerminateV2":            {need: "sandbox_id"},
	"SandboxWaitV2":                 {need: "sandbox_id timeout"},
	"SandboxGetCommandRouterAccess": {need: "sandbox_id"},
	"SandboxListV2":                 {need: "app_id tags.tag_name tags.tag_value", may: "before_timestamp"},
	"SandboxTagsGetV2":              {need: "sandbox_id"},
	"VolumeGetOrCreate":             {need: "deployment_name", may: "object_creation_type environment_name version"},
	"VolumeList":                    {need: "pagination.max_objects", may: "pagination.created_before environment_name"},
	"VolumeDelete":                  {need: "volume_id"},

	"TaskExecStart":            {need: "task_id exec_id command_args", may: "stdout_config stderr_config"},
	"TaskExecStdinWrite":       {need: "task_id exec_id data", may: "offset"},
	"TaskExecStdinWriteStream": {may: "start.task_id start.exec_id start.offset data"},
	"TaskExecStdinStatus":      {need: "task_id exec_id"},
	"TaskExecStdioRead":        {need: "task_id exec_id", may: "offset file_descriptor"},
	"TaskExecWait":             {need: "task_id exec_id"},
}

// right is nil for a sandbox that Modal would make.
func right(d *pb.Sandbox) error {
	r := d.GetResources()
	for fault, is := range map[string]bool{
		"timeout_secs is not within a day":          d.GetTimeoutSecs() < 1 || d.GetTimeoutSecs() > 24*3600,
		"idle_timeout_secs is beyond the timeout":   d.GetIdleTimeoutSecs() < 1 || d.GetIdleTimeoutSecs() > d.GetTimeoutSecs(),
		"the name is none":                          !regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,63}$`).MatchString(d.GetName()),
		"more CPU is set aside than may be used":    r.GetMilliCpuMax() > 0 && r.GetMilliCpu() > r.GetMilliCpuMax(),
		"CPU is bounded and none set aside":         r.GetMilliCpuMax() > 0 && r.GetMilliCpu() == 0,
		"more memory is set aside than may be used": r.GetMemoryMbMax() > 0 && r.GetMemoryMb() > r.GetMemoryMbMax(),
		"memory is bounded and none set aside":      r.GetMemoryMbMax() > 0 && r.GetMemoryMb() == 0,
		"a network is neither open nor closed": !slices.Contains([]pb.NetworkAccess_NetworkAccessType{pb.NetworkAccess_OPEN,
			pb.NetworkAccess_BLOCKED}, d.GetNetworkAccess().GetNetworkAccessType()),
		"a volume is mounted at no folder": slices.ContainsFunc(d.GetVolumeMounts(),
			func(m *pb.VolumeMount) bool { return !path.IsAbs(m.GetMountPath()) }),
		"a volume is not to be written out by the way ": slices.ContainsFunc(d.GetVolumeMounts(),
			func(m *pb.VolumeMount) bool { return !m.GetAllowBackgroundCommits() }),
	} {
		if is {
			return errors.New(fault)
		}
	}
	return nil
}

// check holds a request against its rule.
func (r rule) check(m proto.Message) error {
	said := map[string]bool{}
	if err := fields("", m.ProtoReflect(), said); err != nil {
		return err
	}
	need := strings.Fields(r.need)
	for _, name := range need {
		if !said[name] {
			return fmt.Errorf("it lacks %s", name)
		}
	}
	for name := range said {
		if !slices.Contains(need, name) && !slices.Contains(strings.Fields(r.may), name) {
			return fmt.Errorf("it holds %s, for which there is no reason", name)
		}
	}
	if r.holds != nil {
		return r.holds(m)
	}
	return nil
}

// fields notes the names of what a message holds.
func fields(prefix string, m protoreflect.Message, said map[string]bool) (err error) {
	if len(m.GetUnknown()) > 0 {
		return fmt.Errorf("%sit holds a field that the description does not", prefix)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		name := prefix + string(f.Name())
		switch {
		case f.Message() == nil || f.IsMap():
			said[name] = true
		case f.IsList():
			for i := range v.List().Len() {
				err = errors.Join(err, fields(name+".", v.List().Get(i).Message(), said))
			}
		default:
			err = errors.Join(err, fields(name+".", v.Message(), said))
		}
		return err == nil
	})
	return err
}

// fault is what befalls one call.
type fault struct {
	// err is the answer; hang is to give none until the caller is gone. Either is in
	// place of doing what was asked, or after that.
	err   error
	hang  bool
	after bool
}

func (f fault) answer(ctx context.Context) error {
	if f.hang {
		<-ctx.Done()
		return status.FromContextError(ctx.Err()).Err()
	}
	return f.err
}

// befall has the next calls of a method end so.
func (c *cloud) befall(method string, all ...fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults[method] = append(c.faults[method], all...)
}

// cut ends an output when so much of it was sent.
type cut struct {
	after int64
	err   error
}

// hinder is what befalls an output of which so much was sent.
func (c *cloud) hinder(sent int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.cuts) == 0 || sent < c.cuts[0].after {
		return nil
	}
	err := c.cuts[0].err
	c.cuts = c.cuts[1:]
	return err
}

// next is what befalls a call.
func (c *cloud) next(method string) (f fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[method]++
	if due := c.faults[method]; len(due) > 0 {
		f, c.faults[method] = due[0], due[1:]
	}
	return f
}

// answer is what every call goes through that has one answer.
func (c *cloud) answer(ctx context.Context, req any, about *grpc.UnaryServerInfo, do grpc.UnaryHandler) (any, error) {
	method := path.Base(about.FullMethod)
	if err := c.admit(ctx, about.FullMethod, req.(proto.Message)); err != nil {
		return nil, err
	}
	f := c.next(method)
	if !f.after {
		if err := f.answer(ctx); err != nil {
			return nil, err
		}
	}
	answer, err := do(ctx, req)
	if f.after {
		if err := f.answer(ctx); err != nil {
			return nil, err
		}
	}
	return answer, err
}

// admit is nil for a request that Modal's description allows and a test has a
// reason for, of whom Modal knows.
func (c *cloud) admit(ctx context.Context, full string, req proto.Message) error {
	method := path.Base(full)
	known, ok := rules[method]
	if !ok {
		c.tb.Errorf("%s is called, for which there is no rule", method)
		return status.Errorf(codes.Unimplemented, "%s", method)
	}
	c.hear(method, req)
	if err := known.check(req); err != nil {
		c.tb.Errorf("calling %s: %v", method, err)
		return status.Errorf(codes.InvalidArgument, "%s: %v", method, err)
	}
	return c.authorize(ctx, full, req)
}

// hear notes what Modal could write down: all but what programs read.
func (c *cloud) hear(method string, req proto.Message) {
	if strings.HasPrefix(method, "TaskExecStdinWrite") {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = append(c.heard, method+" "+prototext.Format(req))
}

func (c *cloud) authorize(ctx context.Context, full string, req proto.Message) error {
	if strings.Contains(full, "TaskCommandRouter") {
		return nil // each program's own calls are looked at where it is known whose it is
	}
	c.mu.Lock()
	secret := c.secret
	c.mu.Unlock()
	for header, want := range map[string]string{"x-modal-client-type": "9", "x-modal-token-id": tokenID,
		"x-modal-client-version": "1.0.0"} {
		if got := first(ctx, header); got != want {
			c.tb.Errorf("calling %s: header %s is %q, want %q", full, header, got, want)
		}
	}
	if given := first(ctx, "x-modal-token-secret"); given != secret {
		return status.Errorf(codes.Unauthenticated, "Token %s is not known", given)
	}
	switch req.(type) {
	case *pb.AuthTokenGetRequest, *pb.ImageJoinStreamingRequest: // the first call, and streams, have none
		return nil
	}
	if first(ctx, "x-modal-auth-token") == "" || first(ctx, "x-idempotency-key") == "" {
		return status.Error(codes.Unauthenticated, "no auth token, or no key to know the call again by")
	}
	return nil
}

// stream is what every call goes through that has many answers or parts.
func (c *cloud) stream(srv any, ss grpc.ServerStream, about *grpc.StreamServerInfo, do grpc.StreamHandler) error {
	if err := c.next(path.Base(about.FullMethod)).answer(ss.Context()); err != nil {
		return err
	}
	return do(srv, &checked{ss, c, about.FullMethod})
}

// checked holds each request of a stream against its rule.
type checked struct {
	grpc.ServerStream
	cloud *cloud
	full  string
}

func (s *checked) RecvMsg(m any) error {
	if err := s.ServerStream.RecvMsg(m); err != nil {
		return err
	}
	return s.cloud.admit(s.Context(), s.full, m.(proto.Message))
}
